"""Out of core: rows that are read again for each pass, and predictions that are written block by block."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from nearline import GaussianNB, LinearSVM, LogisticRegression
from nearline.cluster import streaming, write_predictions


@pytest.fixture
def parquet(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    table["label"] = np.where(table["a"] + rng.normal(size=600) > 0, "yes", "no")
    table.to_parquet(tmp_path / "big.parquet", row_group_size=150)
    return table, dd.read_parquet(tmp_path / "big.parquet", split_row_groups=True)


def test_rows_are_read_for_each_pass_and_not_kept(parquet, monkeypatch):
    table, frame = parquet
    assert frame.npartitions > 1
    kept = LogisticRegression(alpha=1e-2).fit(frame[list("abc")], frame["label"])
    with streaming():
        monkeypatch.setattr(dask, "persist", lambda *parts: pytest.fail("rows were kept"))
        model = LogisticRegression(alpha=1e-2).fit(frame[list("abc")], frame["label"])
        bayes = GaussianNB().fit(frame[list("abc")], frame["label"])
    assert np.array_equal(model.coef_, kept.coef_)
    np.testing.assert_allclose(bayes.theta_, GaussianNB().fit(table[list("abc")], table["label"]).theta_)


def test_predictions_are_written_block_by_block_and_go_on(parquet, tmp_path):
    table, frame = parquet
    model = LogisticRegression().fit(table[list("abc")], table["label"])
    files = write_predictions(model, frame[list("abc")], tmp_path / "out", proba=True)
    read = pd.concat([pd.read_parquet(file) for file in files])
    assert read["label"].tolist() == model.predict(table[list("abc")]).tolist()
    np.testing.assert_allclose(read["probability of yes"], model.predict_proba(table[list("abc")])[:, 1])
    files[1].unlink()
    before = files[0].stat().st_mtime_ns
    assert write_predictions(model, frame[list("abc")], tmp_path / "out", proba=True) == files
    assert files[0].stat().st_mtime_ns == before
    assert len(pd.read_parquet(files[1])) == len(frame.partitions[1])


def test_blocks_without_rows_and_models_without_probabilities(parquet, tmp_path):
    table, _ = parquet
    X = table[list("abc")].to_numpy()
    model = GaussianNB().fit(X, table["label"])
    parts = [da.from_array(X[:0], chunks=(1, 3)), da.from_array(X, chunks=(400, 3))]
    rows = da.concatenate(parts)
    files = write_predictions(model, rows, tmp_path / "out")
    assert sum(len(pd.read_parquet(file)) for file in files) == 600
    with pytest.raises(ValueError, match="gives no probabilities"):
        write_predictions(LinearSVM().fit(X, table["label"]), rows, tmp_path / "other", proba=True)
