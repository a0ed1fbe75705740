"""Attacks on the person who looks: names and labels that command a terminal, turn letters around, or are formulas."""

import contextlib
import csv
import io
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attacks import NOTHING, REFUSED, SURVIVED, Attack, Outcome, failed
from nearline._records.visible import visible

HOSTILE = {
    "escapes": "a\x1b]0;owned\x07\x1b[31mb",
    "eight-bit controls": "a\x9b31m\x85b\x7f",
    "directions": "a\u202etxt.exe\u2066b\u200f",
    "line ends": "a\rnearline: all is well\x0b\u2028b",
    "markup": "[red]a[/red] [link=file:///]b[/link] :boom:",
    "mathematics": "$\\frac{a}{b$ {x} %s",
    "tags": "a\U000e0041\ufeff\u200bb",
}
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "-1", "+1", "\uff1d1"]
QUICK = ["--preset", "quick", "--include", "logistic", "--folds", "2", "--quiet"]
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def commanding(text: str, keep: str = "\n\t") -> str:
    """What of a text a terminal or a reader of letters would obey."""
    return "".join(
        c for c in text if (unicodedata.category(c) in ("Cc", "Cs") or c in DIRECTIONS) and c not in keep
    )


def called(arguments: list[str], *, screen: bool = True) -> tuple[int, str]:
    """Exit code, and all that was said."""
    from nearline.cli._run import run

    out, err = (Screen(), Screen()) if screen else (io.StringIO(), io.StringIO())
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    return code, out.getvalue() + err.getvalue()


def looked_at(name: str, arguments: list[str]) -> Outcome:
    """A command whose words must command nothing."""
    code, said = called(arguments)
    found = commanding(said)
    if found or "unexpectedly" in said:
        return failed(f"{name}: {arguments[0]}: {found or said[-200:]!a}")
    return REFUSED if code else SURVIVED


def table(folder: Path, text: str) -> Path:
    """A file with the text as its name, its columns, labels and cells; JSON lines hold any letter."""
    file = folder / f"{text.replace('/', '')[:40]}.jsonl"
    rows = [{"size": i % 7, f"{text}2": "xyz"[i % 3] + text, "kind": f"{text}{i % 2}"} for i in range(40)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def commands(folder: Path, text: str) -> Iterator[list[str]]:
    """Every command, on data and with options that hold the text."""
    file, out = str(table(folder, text)), str(folder / f"out{len(text)}")
    model = f"{out}/model.nearline"
    yield ["try", file, "--target", "kind", *QUICK, "--out", out]
    yield ["inspect", model]
    yield ["predict", model, file, "--explain", "--proba"]
    yield ["explain", model, file, "--row", "1"]
    yield ["evaluate", model, file]
    yield ["sweep", file, "--target", "kind", "--folds", "2", "--out", f"{folder}/k.png"]
    yield ["path", file, "--target", "kind", "--folds", "2", "--out", f"{folder}/a.png"]
    yield ["plot", "regions", file, "--target", "kind", "--out", f"{folder}/p.svg"]
    yield ["try", file, "--target", text, "--out", out]
    yield ["try", f"{folder}/{text.replace('/', '')}", "--target", text, "--out", out]
    yield ["try", file, "--target", "kind", "--scoring", text, "--out", out]
    yield ["try", file, "--target", "kind", "--read", text, "--out", out]
    yield ["plot", text]
    yield [text]
    yield from newer_commands(folder, text, file)


def newer_commands(folder: Path, text: str, file: str) -> Iterator[list[str]]:
    """Probes of embeddings, payloads that are handed over, facts; labels, captions and names hold the text."""
    rows, captions = folder / "rows.jsonl", folder / "captions.jsonl"
    rows.write_text(
        "".join(
            json.dumps({"x": 1 + i % 5, "y": i * i % 7, text: f"{text}{i % 2}"}) + "\n" for i in range(40)
        ),
        encoding="utf-8",
    )
    captions.write_text(
        "".join(json.dumps({"x": i % 5, "y": i, "said": f"{text} and {i % 3}"}) + "\n" for i in range(40)),
        encoding="utf-8",
    )
    probed = ["probe", str(rows), str(rows), "--target", text]
    yield probed
    yield [*probed, "--out", f"{folder}/probe.svg"]
    yield ["probe", str(rows), str(rows), "--target", text, "--protocol", text]
    yield ["probe", file, f"{folder}/{text.replace('/', '')}", "--target", text]
    handed = ["transfer", str(captions), str(captions), "--payload", "said"]
    yield handed
    yield [*handed, "--consensus", "f1", "--out", f"{folder}/handed.csv"]
    yield [*handed[:-1], text]
    yield [*handed, "--metric", text]
    yield ["fact", text]
    yield [
        "try",
        file,
        "--target",
        "kind",
        *QUICK,
        "--out",
        f"{folder}/{text.replace('/', '')[:40]}",
        "--resume",
    ]
    yield ["inspect", f"{folder}/{text.replace('/', '')[:40]}/journal.jsonl"]


def on_every_command(folder: Path, text: str) -> Outcome:
    return sum((looked_at(ascii(text), arguments) for arguments in commands(folder, text)), NOTHING)


def on_the_report(folder: Path, text: str) -> Outcome:
    """The page, its pictures and the facts in it."""
    file, out = table(folder, text), folder / "reported"
    code, said = called(["try", str(file), "--target", "kind", *QUICK, "--out", str(out), "--force"])
    if code:
        return failed(f"{text!a}: {said}")
    found = "".join(
        commanding(one.read_text(encoding="utf-8")) for one in [out / "report.html", out / "result.json"]
    )
    return failed(f"{text!a}: {found!a}") if found else SURVIVED


def on_the_bar(folder: Path, text: str) -> Outcome:
    """The bar of progress shows a name as it is."""
    from rich.text import Text

    from nearline.selection.progress import Bar

    screen, bar = Screen(), Bar()
    with contextlib.redirect_stderr(screen):
        bar.begin()
        bar.advance(0.5, text)
        task = bar._bar.tasks[0]
        shown = [column(task) for column in bar._bar.columns]
        bar.end()
    texts = [one.plain for one in shown if isinstance(one, Text)]
    kept = any(visible(text) in one for one in texts)
    return SURVIVED if kept and not commanding("".join(texts)) else failed(f"{text!a}: {texts}")


def on_spreadsheets(folder: Path) -> Outcome:
    """Labels that are formulas: no cell of the predictions is one, and reading them back gives the labels."""
    from nearline.cli._cells import from_cell

    file, out = folder / "formulas.csv", folder / "formulas"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["size", "kind"])
        writer.writerows([f"{i % 10}.5", FORMULAS[i % 10]] for i in range(100))
    called(["try", str(file), "--target", "kind", *QUICK, "--out", str(out)])
    outcome = NOTHING
    for ending in ("csv", "tsv"):
        predictions = folder / f"answers.{ending}"
        code, said = called(
            ["predict", str(out / "model.nearline"), str(file), "--explain", "--out", str(predictions)]
        )
        if code:
            outcome += failed(said)
            continue
        with predictions.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream, delimiter="\t" if ending == "tsv" else ","))[1:]
        outcome += sum((_cell(cell) for row in rows for cell in row), NOTHING)
        known, found = {from_cell(row[0]) for row in rows}, set(_labels(out))
        outcome += SURVIVED if known <= found and len(known) > 5 else failed(f"{known} are not {found}")
    return outcome


def _cell(cell: str) -> Outcome:
    number = cell.lstrip("+-").replace(".", "").isdecimal()
    return (
        failed(f"{cell!r} is a formula") if cell[:1] in tuple("=+-@\t\r\uff1d") and not number else SURVIVED
    )


def _labels(out: Path) -> list[str]:
    from nearline import inspect

    return [str(label) for label in (inspect(out / "model.nearline").facts or {})["classes"]]


def attacks() -> Iterator[Attack]:
    for name, text in HOSTILE.items():
        yield Attack(f"terminal: {name} in names", lambda folder, text=text: on_every_command(folder, text))
    every = HOSTILE.values()
    yield Attack(
        "terminal: the report", lambda folder: sum((on_the_report(folder, text) for text in every), NOTHING)
    )
    yield Attack(
        "terminal: the bar of progress",
        lambda folder: sum((on_the_bar(folder, text) for text in every), NOTHING),
    )
    yield Attack("terminal: formulas in labels", on_spreadsheets)
