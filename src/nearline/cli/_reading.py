"""How a command reads data: what the person says, what the model remembers, what was understood."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import is_sparse
from nearline._records.words import many
from nearline.cli._errors import UsageError, note
from nearline.cli._shown import described
from nearline.data import DataError, Schema, Table, batches, read
from nearline.data.base import NotInPartsError
from nearline.data.bins import refuse_quantity
from nearline.data.listing import in_order
from nearline.data.texts import entries
from nearline.files import inspect as inspected

# what --read KEY=VALUE may say, and how the value is understood
KEYS: dict[str, Any] = {
    "format": str,
    "delimiter": lambda text: {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text),
    "header": lambda text: {"yes": True, "no": False}[text],
    "encoding": str,
    "missing": lambda text: text.split("|"),
    "features": str,
    "size": int,
    "bins": lambda text: int(text) if "|" not in text else [float(edge) for edge in text.split("|")],
}
IN_PARTS = ("format", "delimiter", "header", "encoding", "missing")  # what reading in parts understands


@dataclass(frozen=True)
class Reading:
    """What a person says about a file, beside its name."""

    target: str | None = None
    labels: str | None = None
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    classes: bool = False  # whether numbers are classes, however many

    @classmethod
    def of(
        cls,
        target: str | None = None,
        labels: Path | None = None,
        columns: str | None = None,
        drop: str | None = None,
        options: list[str] | None = None,
        bins: int | None = None,
        classes: bool = False,
    ) -> "Reading":
        """From the options of a command."""
        wanted = names(columns)
        return cls(
            target,
            None if labels is None else str(labels),
            None if wanted is None else tuple(wanted),
            tuple(names(drop) or ()),
            dict(_pair(text) for text in options or ()) | ({} if bins is None else {"bins": bins}),
            classes,
        )

    def table(self, path: Path, like: Table | Schema | None = None) -> Table:
        """All rows, without the columns that are to be dropped."""
        chosen: Any = None if self.columns is None else list(self.columns)
        labels = self.labels
        table = read(path, self.target, like=like, columns=chosen, labels=labels, **self.options)
        return without(table, self.drop)

    def labeled(self, path: Path, like: Table | Schema | None = None) -> Table:
        """The same; rows without labels are refused."""
        table = self.table(path, like)
        if table.y is None:
            raise UsageError(f"Which column holds the labels? Give --target, one of: {columns_of(table)}.")
        if not self.classes:
            refuse_quantity(np.asarray(table.y), table.description.target, columns_of(table))
        return table


def _pair(text: str) -> tuple[str, Any]:
    key, mark, value = text.partition("=")
    if not mark or key not in KEYS:
        raise UsageError(f"--read takes {', '.join(f'{key}=...' for key in KEYS)}, got {text!r}.")
    try:
        return key, KEYS[key](value)
    except (KeyError, ValueError):
        raise UsageError(f"--read {key}= cannot be {value!r}.") from None


def names(text: str | None) -> list[str] | None:
    """Names between commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def columns_of(table: Table) -> str:
    """All columns of a table for a sentence, those in doubt first."""
    return in_order(table.description.columns) or "none here (give --labels FILE, or a folder for each class)"


def without(table: Table, drop: tuple[str, ...]) -> Table:
    """A table without some columns."""
    if not drop:
        return table
    known = table.schema.columns or {}
    lacking = [name for name in drop if name not in known]
    if lacking:
        raise DataError(f"There is no column {lacking[0]!r} to drop; there are: {columns_of(table)}.")
    if len(set(drop)) == len(known):
        raise DataError("All columns would be dropped: keep one to classify by.")
    description, schema = table.description, table.schema
    kept = tuple(column for column in description.columns if column.name not in drop)
    return replace(
        table,
        X=table.X.drop(list(drop)),
        description=replace(description, columns=kept, shape=(len(kept),)),
        schema=replace(
            schema,
            columns={name: kind for name, kind in known.items() if name not in drop},
            n_features=len(kept),
        ),
    )


def features_of(table: Table, *others: str | None) -> Any:
    """X without the columns of groups and time, which no model looks at."""
    unused = [name for name in dict.fromkeys(others) if name is not None]
    for name in unused:
        if name not in (table.schema.columns or {}):
            raise DataError(f"There is no column {name!r}; there are: {columns_of(table)}.")
    return table.X.drop(unused) if unused else table.X


def ordered(table: Table, groups: str | None, time: str | None) -> tuple[Any, Any, Any, Any]:
    """X, y, groups and the numbers of the rows in the file, in the order of time if there is one."""
    X, y, order = features_of(table, groups, time), np.asarray(table.y), np.arange(len(table))
    own = None if groups is None else table.X[groups].to_numpy()
    if time is not None:
        order = np.argsort(_times(table.X[time]), kind="stable")
        X, y, own = X[order], y[order], None if own is None else own[order]
    return X, y, own, order


def _times(column: Any) -> Any:
    """Numbers or moments that can be put in order; text is taken only where its order is that of time."""
    missing = column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)
    if missing:
        raise DataError(
            f"{many(missing, 'row')} without a time in {column.name!r}: fill it in, or leave what has none out."
        )
    if column.dtype.is_numeric() or column.dtype.is_temporal():
        return column.to_numpy()
    try:
        return np.array([_moment(str(text)) for text in column.to_list()], dtype="datetime64[us]")
    except ValueError as error:
        raise UsageError(
            f"--time {column.name} is text that is no time ({error}): convert the column to ISO dates (YYYY-MM-DD) or "
            "numbers."
        ) from None


def _moment(text: str) -> datetime:
    """A date or time as ISO 8601 writes it; with a zone it is brought to UTC, without one it is taken for UTC."""
    month = re.fullmatch(r"\d{4}-\d{2}", text.strip())
    moment = datetime.fromisoformat(f"{text.strip()}-01" if month else text.strip())
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def model_schema(model_file: Path) -> Schema:
    """How the data of a model was read."""
    facts = inspected(model_file).facts or {}
    classes = facts.get("classes")
    return Schema(
        columns=facts.get("columns"),
        classes=None if classes is None else tuple(classes),
        target=facts.get("target"),
        n_features=facts.get("features"),
        zero_based=facts.get("zero_based"),
        bins=None if facts.get("bins") is None else tuple(facts["bins"]),
        texts=facts.get("columns") is None and facts.get("features") is None and bool(facts),
    )


def model_reading(model_file: Path, said: Reading) -> Reading:
    """How a model's further data are read: as its own were, unless it is said otherwise."""
    options = (inspected(model_file).facts or {}).get("reading") or {}
    known = {key: value for key, value in options.items() if key in KEYS}
    return replace(said, options={**known, **said.options})


def parts(path: Path, schema: Schema, reading: Reading) -> Iterator[Table]:
    """The rows in order, some at a time where the format allows it. Labels, known or not, are not looked at."""
    schema = replace(schema, classes=None)
    options = {key: value for key, value in reading.options.items() if key in IN_PARTS}
    try:
        found = batches(path, like=schema, **options)
    except NotInPartsError:
        found = iter([_whole(path, schema, reading)])
    yield from (_every(of_the_models_kind(part, schema, path), path) for part in found)


def of_the_models_kind(table: Table, schema: Schema, path: Path) -> Table:
    """Refuse texts, tables or rows of numbers where the model was made of others, or of rows of another length."""
    own = table.schema
    if schema.columns is not None and own.columns is None and not _fill(table, schema.columns):
        first = ", ".join(
            [*map(repr, list(schema.columns)[:5]), *(["..."] if len(schema.columns) > 5 else [])]
        )
        wanted = f"a table with {many(len(schema.columns), 'column')} ({first}): give a file that has them"
    elif schema.texts and not own.texts and own.columns is None:
        wanted = "texts: give a file with a text on each line, or a column of texts"
    elif schema.columns is None and schema.n_features and own.n_features != schema.n_features:
        wanted = f"rows of {schema.n_features:,} numbers: give such rows (one row alone is an array of shape (1, ...))"
    else:
        return table
    shape = " x ".join(map(str, table.description.shape))
    dense = "texts" if own.texts else f"rows of {shape} numbers"
    found = "sparse rows of numbers" if is_sparse(table.X) else dense
    raise DataError(f"{path} has {found}, and the model was made of {wanted}.")


def _fill(table: Table, columns: Mapping[str, str | None]) -> bool:
    """Whether rows without names have a number for each of the columns, which are numbers too."""
    numbers = all(str(kind).startswith(("number", "integer")) for kind in columns.values())
    return numbers and isinstance(table.X, np.ndarray) and table.schema.n_features == len(columns)


def _every(table: Table, path: Path) -> Table:
    """Refuse a table that lacks rows of its file: answers are in the order of the rows, one for each."""
    left_out = table.description.unlabeled
    if left_out:
        raise DataError(
            f"{many(left_out, 'row')} of {path} without a label while others have one, to be left out: give every row a "
            "label, or none."
        )
    return table


def _whole(path: Path, schema: Schema, reading: Reading) -> Table:
    """All rows at once; where the training labels stood, new data may have none."""
    try:
        return read(path, like=schema, **reading.options)
    except DataError:
        if schema.target is None:
            raise
        table = read(path, like=replace(schema, target=None), **reading.options)
        if table.y is not None:  # then it is something else that is wrong
            raise
        return table


def files_of(path: Path, table: Table) -> list[str] | None:
    """The files that the rows of a folder are, in their order; None where rows are not files."""
    if not path.is_dir():
        return None
    folders, own = entries(path)
    found = [file for folder in folders for file in entries(folder)[1]] if folders else own
    files = [str(file.relative_to(path)) for file in found]
    if table.places is not None and table.places.max(initial=0) < len(files):
        files = [files[place] for place in table.places.tolist()]
    return files if len(files) == len(table) else None


def rows_of(X: Any) -> Any:
    """Rows as a model takes them: a table of numbers is one array, as it was when the model was fitted."""
    from nearline.representations import is_frame, kind_of

    if is_frame(X) and kind_of(X) == "numbers":
        return X.to_numpy()
    return X


def show(table: Table) -> None:
    """What was understood, before work starts."""
    print(described(table.description), end="\n\n", flush=True)


def tell_notes(table: Table) -> None:
    """Notes of a part, where the answer is on standard output."""
    for text in table.description.notes:
        note(text)
