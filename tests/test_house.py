"""The plan of the house: what import-linter does not check."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def imports(path):
    """(module that imports, full name imported) of a file."""
    module = str(path.relative_to(SOURCE).with_suffix("")).replace("/", ".").removesuffix(".__init__")
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("nearline"):
            yield from ((module, f"{node.module}.{name.name}") for name in node.names)
        if isinstance(node, ast.Import):
            yield from ((module, name.name) for name in node.names if name.name.startswith("nearline"))


def everywhere():
    return [found for path in SOURCE.rglob("*.py") for found in imports(path)]


def test_nothing_imports_what_is_private_to_another_package():
    wrong = []
    for module, name in everywhere():
        parts = name.split(".")
        for i, part in enumerate(parts[2:], 2):  # rooms of the first floor are private to users only
            owner = ".".join(parts[:i])
            if (
                part.startswith("_")
                and not part.startswith("__")
                and not f"{module}.".startswith(f"{owner}.")
            ):
                wrong.append(f"{module} imports {name}")
    assert not wrong


def test_no_package_imports_its_own_init():
    wrong = []
    packages = {str(p.parent.relative_to(SOURCE)).replace("/", ".") for p in SOURCE.rglob("__init__.py")}
    for path in SOURCE.rglob("*.py"):
        if path.name in ("__init__.py", "__main__.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module in packages - {"nearline"}:
                own = str(path.parent.relative_to(SOURCE)).replace("/", ".")
                names = {alias.name for alias in node.names}
                modules = {p.stem for p in (SOURCE / node.module.replace(".", "/")).iterdir()}
                if node.module == own and not names <= modules:
                    wrong.append(f"{path.relative_to(SOURCE)} imports {node.module}")
    assert not wrong


def test_the_stub_has_the_public_names():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_package_stub
    finally:
        sys.path.pop(0)
    assert (SOURCE / "nearline" / "__init__.pyi").read_text() == make_package_stub.stub()


def test_walks_are_counted():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import walk
    finally:
        sys.path.pop(0)
    found = walk.walk(walk.search)
    fit, predict = (
        ("estimators/neighbors.py", f"KNeighborsClassifier.{name}") for name in ("fit", "predict")
    )
    assert found.index(fit) < found.index(predict)
    assert {file.split("/")[0] for file, _ in found} >= {"_arrays", "estimators", "neighbors"}
