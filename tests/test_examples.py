"""The examples run, with few candidates."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


DIGITS = tuple(values[:300] for values in load_digits(return_X_y=True))


@pytest.fixture
def small_data(tmp_path, monkeypatch):
    """Folders laid out as the real ones, with few rows."""
    rng = np.random.default_rng(0)
    for part in ("surnames", "sms_spam", "emb_text_wordllama"):
        (tmp_path / part).mkdir()
    for file, letters in (("Irish", "oconrel"), ("Czech", "kvachse"), ("Greek", "posidut")):
        names = ["".join(rng.choice(list(letters), 7)) for _ in range(60)]
        (tmp_path / "surnames" / f"{file}.txt").write_text("\n".join(names))
    words = {"ham": ["see", "you", "at", "home", "later"], "spam": ["win", "a", "prize", "call", "now"]}
    lines = [f"{label}\t{' '.join(rng.choice(words[label], 6))} {i}" for i in range(60) for label in words]
    (tmp_path / "sms_spam" / "SMSSpamCollection").write_text("\n".join(lines))
    y = np.arange(120) % 4 + 1
    X = (rng.normal(size=(120, 8)) + y[:, None]).astype(np.float32)
    np.savez(tmp_path / "emb_text_wordllama" / "ag_news_test_wordllama256.npz", X=X, y=y)
    monkeypatch.setenv("NEARLINE_DATA", str(tmp_path))


@pytest.mark.filterwarnings("ignore::nearline.LeakageWarning")
@pytest.mark.parametrize("name", ["table", "images", "texts", "embeddings", "strings"])
def test_example(name, small_data, tmp_path, capsys, monkeypatch):
    example = importlib.import_module(f"examples.{name}")
    if name == "images":
        monkeypatch.setattr(example, "load_digits", lambda **_: DIGITS)
    result = example.main("quick", tmp_path / "out")
    assert result.intervals[next(iter(result.scores))].defined
    assert "95% interval" in capsys.readouterr().out
    assert len(list((tmp_path / "out").glob("*.png"))) >= 2
