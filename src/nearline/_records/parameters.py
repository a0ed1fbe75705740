"""Parameters of objects that estimators hold (kernels, metrics, vote weights), by scikit-learn's names.

``kernel__gamma`` in a grid is the field gamma of the object that the estimator's parameter kernel is. The objects are
frozen: an estimator that is to have another gamma gets another kernel.
"""

from dataclasses import fields, replace
from typing import Any, Self


class Parametrized:
    """A frozen dataclass whose fields are parameters, but for those that its repr leaves out: they were learned."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Fields by name; those of fields that have parameters too as ``field__name``."""
        own = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}  # type: ignore[arg-type]
        return with_inner(own) if deep else own

    def with_params(self, **values: Any) -> Self:
        """The same object with other values."""
        return replace(self, **regrouped(self, self.get_params(deep=False), values))  # type: ignore[type-var]

    def __sklearn_clone__(self) -> Self:
        return self  # nothing can change it


class HoldsParametrized:
    """Of an estimator: ``set_params`` reaches into the objects that it holds, by giving it new ones."""

    def set_params(self, **values: Any) -> Self:
        """Set parameters by name, those of a kernel or metric as ``kernel__gamma``."""
        own = self.get_params(deep=False)  # type: ignore[attr-defined]
        held = {name for name, value in own.items() if isinstance(value, (Parametrized, str))}
        inner = {
            key: value for key, value in values.items() if key.partition("__")[0] in held and "__" in key
        }
        plain = {key: value for key, value in values.items() if key not in inner}
        super().set_params(**plain)  # type: ignore[misc]
        if inner:
            own = self.get_params(deep=False)  # type: ignore[attr-defined]
            super().set_params(**regrouped(self, own, inner))  # type: ignore[misc]
        return self


def with_inner(own: dict[str, Any]) -> dict[str, Any]:
    """Parameters, and those of parameters that have some."""
    inner = {
        f"{name}__{key}": deeper
        for name, value in own.items()
        if isinstance(value, Parametrized)
        for key, deeper in value.get_params().items()
    }
    return own | inner


def regrouped(owner: Any, own: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """New values of an owner's parameters, where ``name__key`` means another value of the parameter of that name."""
    new: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        name, _, deeper = key.partition("__")
        if name not in own:
            raise ValueError(
                f"{type(owner).__name__} has no parameter {name!r}: it has {', '.join(map(repr, own)) or 'none'}."
            )
        if deeper:
            nested.setdefault(name, {})[deeper] = value
        else:
            new[name] = value
    for name, parts in nested.items():
        held = new.get(name, own[name])
        if not isinstance(held, Parametrized):
            raise ValueError(
                f"{name}={held!r} of {type(owner).__name__} has no parameters to set ({', '.join(parts)}): give an object, "
                "such as kernel=RBF() or metric=Lq(3), not a name."
            )
        new[name] = held.with_params(**parts)
    return new
