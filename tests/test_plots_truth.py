"""Numbers of pictures against loops and scikit-learn: what is scaled is scaled inside the folds, colors are classes."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from nearline import KNeighborsClassifier, plots  # noqa: E402
from nearline.plots.recipes import contests  # noqa: E402
from nearline.plots.samples import Sample  # noqa: E402

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def drifting():
    """Rows whose scales the folds disagree about, so that scaling before the folds would be seen."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 6)) * np.exp(4.0 * rng.standard_normal((60, 6)))
    y = np.where(X[:, 0] + rng.standard_normal(60) > 0, "up", "down")
    scaler = StandardScaler()
    return Sample(scaler.fit_transform(X), y, [f"x{j}" for j in range(6)], X, representation=StandardScaler())


def curve(ax, i=0):
    """Places, means and half bars of an errorbar."""
    line, _, (bars,) = ax.containers[i]
    x, mean = line.get_data()
    return np.asarray(x), np.asarray(mean), np.array([0.5 * (b[1, 1] - b[0, 1]) for b in bars.get_segments()])


def test_sweeps_are_those_of_models_scaled_in_each_fold():
    sample = drifting()
    x, mean, half = curve(plots.PICTURES["sweep"](sample))
    for k, m, h in zip(x, mean, half):
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(int(k)))
        scores = cross_val_score(model, sample.raw, sample.y, cv=FOLDS)
        assert (m, h) == (pytest.approx(scores.mean()), pytest.approx(scores.std(ddof=1)))


def test_paths_are_those_of_models_scaled_in_each_fold():
    sample = drifting()
    x, mean, half = curve(plots.PICTURES["path-scores"](sample))
    compared = 0
    for alpha, m, h in list(zip(x, mean, half))[:6]:
        scores, nearest = [], np.inf
        for train, test in FOLDS.split(sample.raw, sample.y):
            peer = Peer(C=1.0 / (alpha * len(train)), tol=1e-8, max_iter=10_000)
            model = make_pipeline(StandardScaler(), peer).fit(sample.raw[train], sample.y[train])
            scores.append(model.score(sample.raw[test], sample.y[test]))
            nearest = min(nearest, np.abs(model.decision_function(sample.raw[test])).min())
        if nearest > 1e-5:  # a row at the boundary falls on either side
            compared += 1
            assert (m, h) == (pytest.approx(np.mean(scores)), pytest.approx(np.std(scores, ddof=1)))
    assert compared >= 4


def test_learning_curves_are_scaled_in_each_fold():
    sample = drifting()
    _, mean, _ = curve(plots.PICTURES["learning-curve"](sample))
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    all_rows = cross_val_score(model, sample.raw, sample.y, cv=FOLDS)
    assert mean[-1] == pytest.approx(all_rows.mean())


def test_cells_have_the_colors_of_their_own_class():
    """Between classes 0 and 2 there is no strip of class 1; a class that no drawn row is of has its own color."""
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]]), np.array(["a", "a", "c", "c"])

    def predict(rows):
        return np.where(rows[:, 0] > 1.5, "c", "a")

    codes = np.asarray(plots.plot_regions(predict, X, y, steps=40).images[0].get_array())
    assert set(np.unique(codes)) == {0, 1}
    three = plots.plot_regions(lambda rows: np.where(rows[:, 1] > 0.5, "b", predict(rows)), X, y, steps=40)
    codes, (left, right, bottom, top) = three.images[0].get_array(), three.images[0].get_extent()
    assert set(np.unique(codes)) == {0, 1, 2}
    across = left + (np.arange(40) + 0.5) * (right - left) / 40
    up = bottom + (np.arange(40) + 0.5) * (top - bottom) / 40
    expected = np.where(up[:, None] > 0.5, 1, np.where(across > 1.5, 2, 0))
    np.testing.assert_array_equal(codes, expected)


def test_what_is_said_of_tested_rows_is_what_scikit_learn_says(monkeypatch):
    sample = plots.PICTURES["confusion"].shipped()
    result = contests._tested(sample, ("logistic, L2",), "quick", 0)
    monkeypatch.setattr(contests, "_tested", lambda *_, **more: result)
    truth, p = result.classes[result.codes], result.predictions.probabilities()
    called = result.classes[result.predictions.labels]
    texts = [int(text.get_text()) for text in plots.PICTURES["confusion"](sample).texts]
    np.testing.assert_array_equal(texts, metrics.confusion_matrix(truth, called).ravel())
    for name, score in (
        ("roc", metrics.roc_auc_score),
        ("precision-recall", metrics.average_precision_score),
    ):
        lines = [line.get_label() for line in plots.PICTURES[name](sample).lines]
        for c, label in enumerate(result.classes):
            said = next(line for line in lines if line.startswith(f"{label} ("))
            assert said.endswith(f"{score(truth == label, p[:, c]):.3f})")
    ax = plots.PICTURES["reliability"](sample)
    top, right = p.max(axis=1), called == truth
    bins = np.minimum((top * 10).astype(int), 9)
    error = sum(abs(right[bins == b].sum() - top[bins == b].sum()) for b in range(10)) / len(top)
    assert f"expected calibration error {error:.3f}" in ax.get_title()
    assert [int(text.get_text()) for text in ax.texts] == [n for n in np.bincount(bins) if n]
