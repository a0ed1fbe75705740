"""The examples run, with few candidates."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from examples._common import data_folder  # noqa: E402

SHIPPED = ("table", "images")
REAL = ("texts", "embeddings", "strings")


@pytest.mark.filterwarnings("ignore::nearline.selection.try_all.LeakageWarning")
@pytest.mark.parametrize("name", SHIPPED + REAL)
def test_example(name, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    if name in REAL:
        try:
            data_folder()
        except SystemExit as error:
            pytest.skip(str(error))
    if name == "strings":
        pytest.skip("takes minutes; run it with python -m examples.strings")
    result = importlib.import_module(f"examples.{name}").main("quick", tmp_path)
    assert result.intervals[next(iter(result.scores))].defined
    assert "95% interval" in capsys.readouterr().out
    assert len(list(tmp_path.glob("*.png"))) >= 2
