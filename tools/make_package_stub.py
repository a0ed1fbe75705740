"""Writes src/nearline/__init__.pyi: the public names with their types, for type checkers and editors.

The package imports a module when one of its names is first used, which no type checker can see; the stub says it. Run by
``make format``; a test compares.
"""

import ast
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "nearline" / "__init__.py"


def homes(source: Path = SOURCE) -> dict[str, str]:
    """Public name -> module that defines it, read without importing."""
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "_HOMES":
            return dict(ast.literal_eval(node.value))
    raise SystemExit(f"{source} has no dictionary _HOMES")


def stub() -> str:
    """The text of the stub."""
    by_module: dict[str, list[str]] = {}
    for name, module in homes().items():
        by_module.setdefault(module, []).append(name)
    lines = ["# Written by tools/make_package_stub.py."]
    for module in sorted(by_module):
        lines += [f"from {module} import {name} as {name}" for name in sorted(by_module[module])]
    return "\n".join([*lines, "", "__version__: str", "__all__: list[str]", ""])


if __name__ == "__main__":
    target = SOURCE.with_suffix(".pyi")
    if "--check" in sys.argv:
        sys.exit(
            0
            if target.read_text() == stub()
            else f"{target} is not what tools/make_package_stub.py writes: run make format"
        )
    target.write_text(stub())
