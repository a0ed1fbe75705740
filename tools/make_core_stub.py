"""Write the type stub of the compiled core: `python tools/make_core_stub.py` (the tests check that it is up to date).

The stub is made from the portable module, which has every function on every machine. Arrays are typed as arrays: their
types and layouts are checked by the core itself, so overloads that differ in nothing else become one.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import nearline._core._portable as core
from nanobind.stubgen import StubGen

STUB = Path(__file__).resolve().parents[1] / "src" / "nearline" / "_core" / "__init__.pyi"

HEAD = '''"""The compiled core (written by tools/make_core_stub.py)."""

from enum import Enum
from typing import Any, TypeAlias, overload

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

builds: tuple[str, ...]
isa: str

def default_threads() -> int:
    """Number of threads that the environment asks for, else the cores this process may use."""
'''


def simple(text: str) -> str:
    """The same with every array type as Array."""
    text = re.sub(r"Annotated\[NDArray(?:\[[\w.]+\])?, dict\((?:[^()]|\([^()]*\))*\)\]", "Array", text)
    return re.sub(r"NDArray(?:\[[\w.]+\])?", "Array", text)


def signatures(nodes: list[ast.stmt]) -> list[str]:
    """Functions, with the overloads that differ in nothing but types of arrays as one."""
    heads: dict[str, dict[str, str]] = {}  # function -> its distinct heads -> docstring
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            assert node.returns is not None
            for more in (node.args.vararg, node.args.kwarg):  # nanobind leaves *args and **kwargs untyped
                if more is not None and more.annotation is None:
                    more.annotation = ast.Name("Any")
            head = simple(f"def {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}:")
            own = heads.setdefault(node.name, {})
            own[head] = ast.get_docstring(node) or own.get(head, "")
    parts = []
    for own in heads.values():
        for head, doc in own.items():
            mark = "@overload\n" if len(own) > 1 else ""
            parts.append(f'{mark}{head}\n    """{doc}"""\n' if doc else f"{mark}{head} ...\n")
    return parts


def members(nodes: list[ast.stmt]) -> list[str]:
    """Of an enumeration, with their numbers."""
    return [ast.unparse(node) + "\n" for node in nodes if isinstance(node, ast.Assign)]


def stub() -> str:
    """The text of the stub, not yet formatted."""
    generator = StubGen(core, quiet=True)
    generator.put(core)
    nodes = ast.parse(generator.get()).body
    parts = [HEAD]
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(base).removeprefix("enum.") for base in node.bases)
            body = "".join(members(node.body) + signatures(node.body))
            parts.append(f"class {node.name}{f'({bases})' * bool(bases)}:\n" + indent(body, "    "))
    text = "\n".join(parts + signatures(nodes))
    return text if "@overload" in text else text.replace(", overload", "")


def functions(text: str) -> set[str]:
    """What two stubs must agree in, whatever the formatting: classes, members of enumerations, functions and their types."""
    nodes = list(ast.walk(ast.parse(text)))
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    heads = (node for node in nodes if isinstance(node, ast.FunctionDef))
    known = {ast.unparse(node) for node in nodes if isinstance(node, ast.Assign)}
    return classes | known | {f"{node.name}({ast.unparse(node.args)})" for node in heads}


if __name__ == "__main__":
    STUB.write_text(stub())
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", str(STUB)], check=True)
    print(f"wrote {STUB}")
