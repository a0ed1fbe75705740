"""``nearline sweep`` and ``nearline path``: choose k, choose alpha, by the table and, if asked for, the picture."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nearline._records.visible import visible
from nearline._records.words import many
from nearline.cli._errors import UsageError, as_usage, folds_of
from nearline.cli._output import check_file, clean
from nearline.cli._plot import check_ending, saved
from nearline.cli._reading import Reading, names, rows_of, show
from nearline.cli._shown import print_json
from nearline.neighbors.metrics import as_metric
from nearline.neighbors.weights import as_weights
from nearline.plots.recipes.models import margin_model
from nearline.representations import representations
from nearline.selection.cells import table as aligned
from nearline.selection.edges import ROUNDS, Counts, Edge
from nearline.selection.leaderboard import OPTIMISTIC
from nearline.selection.path import checked_alphas

KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
LINES = 12  # of a table


def run_sweep(
    data: Path,
    reading: Reading,
    *,
    ks: str | None,
    metric: str,
    weights: str,
    folds: str,
    random_state: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Cross-validate k nearest neighbors over k, metric and vote weights."""
    from nearline.selection.sweep import sweep

    drawn = folds_of(folds)
    asked = None if ks is None else [_number(k, "--ks") for k in names(ks) or ()]
    _check_votes(names(metric) or [], names(weights) or [])
    table = reading.labeled(data)
    check_picture(out)  # what is wrong with the data is said first
    rows = rows_of(table.X)
    representation = representations(rows, "quick")[0]
    fewest = len(table) - 1 if isinstance(drawn, str) else len(table) - -(-len(table) // drawn)
    grid = [k for k in KS if k <= fewest] if asked is None else asked
    if not as_json:
        show(table)
    find = partial(
        sweep,
        rows,
        table.y,
        metrics=names(metric),
        weights=names(weights),
        folds=drawn,
        transformer=representation.transformer(),
        random_state=random_state,
    )
    result = find(grid) if asked is not None else _going_on(find, grid, fewest)
    if as_json:
        chosen = {"best": result.best, "one_standard_error": result.one_standard_error, "note": OPTIMISTIC}
        print_json(clean({"rows": result.rows(), **chosen, "edge": _edge_facts(result.edge)}))
    else:
        _show_sweep(result, representation.name)
    if out is not None:
        from nearline.plots import plot_sweep

        keep_picture(plot_sweep(result), out, as_json)


def _going_on(find: Callable[[list[int]], Any], grid: list[int], most: int) -> Any:
    """The sweep over k and, where its best stands at the largest k, over larger ones, at most ROUNDS times."""
    result, axis = find(grid), Counts("k", "k", high=most)
    for _ in range(ROUNDS):
        further = axis.beyond([*map(float, grid)], True) if result.edge is not None else []
        if not further:
            break
        grid = [*grid, *map(int, further)]
        result = find(grid)
    return result


def _check_votes(metrics: list[str], weights: list[str]) -> None:
    """Refuse names of metrics and of weights that there are not."""
    if not metrics or not weights:
        raise UsageError("--metric and --weights need a name each.")
    with as_usage():
        for metric in metrics:
            as_metric(metric)
        for weighting in weights:
            as_weights(weighting)


def _show_sweep(result: Any, representation: str) -> None:
    rows = result.rows()
    shown = [
        [
            str(r["k"]),
            r["metric"],
            r["weights"],
            f"{r['mean']:.4f} ± {r['deviation']:.4f}",
            f"{r['vote_ties']:.1%}",
        ]
        for r in rows[:LINES]
    ]
    print("\n".join(aligned([["k", "metric", "weights", result.scoring, "vote ties"], *shown])))
    print(
        f"\nthe best {len(shown)} of {len(rows)}; rows as {representation}; mean ± standard deviation over folds"
    )
    print(f"best mean: {_said(result.best)}")
    print(
        f"largest k of that metric and weighting within one standard error of it: {_said(result.one_standard_error)}"
    )
    print(OPTIMISTIC)
    _show_edge(result.edge, "--ks")


def run_path(
    data: Path,
    reading: Reading,
    *,
    loss: str,
    regularizer: str,
    alphas: str | None,
    folds: str,
    random_state: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Cross-validate a linear model over alpha."""
    from nearline.selection.path_scores import path_scores

    drawn = folds_of(folds)
    with as_usage():
        model = margin_model(loss, regularizer)
        grid = None if alphas is None else checked_alphas([_real(a) for a in names(alphas) or ()])
    table = reading.labeled(data)
    check_picture(out)  # what is wrong with the data is said first
    rows = rows_of(table.X)
    representation = representations(rows, "quick")[0]
    if not as_json:
        show(table)
    result = path_scores(
        model,
        rows,
        table.y,
        grid,
        folds=drawn,
        transformer=representation.transformer(),
        random_state=random_state,
    )
    if as_json:
        print_json(clean(_path_facts(result)))
    else:
        over = many(result.scores.shape[1], "fold")
        _show_path(
            result,
            f"{loss}, {regularizer}; rows as {representation.name}; mean ± standard deviation over {over}",
        )
    if out is not None:
        from nearline.plots import plot_path_scores

        ax = plot_path_scores(result.alphas, result.scores, label=f"{loss}, {regularizer}", marks=result)
        ax.set_ylabel("accuracy")
        keep_picture(ax, out, as_json)


def _path_facts(result: Any) -> dict[str, Any]:
    columns = result.alphas, result.mean, result.deviation, result.scores, result.gaps
    names = "alpha", "mean", "deviation", "scores", "gap"
    return {
        "rows": [dict(zip(names, row)) for row in zip(*columns)],
        "best": result.alphas[result.best],
        "one_standard_error": result.alphas[result.one_standard_error],
        "note": OPTIMISTIC,
        "edge": _edge_facts(result.edge),
    }


def _show_path(result: Any, how: str) -> None:
    marks = {result.best: "best mean", result.one_standard_error: "one standard error"}
    if result.best == result.one_standard_error:
        marks = {result.best: "best mean and one standard error"}
    shown = [
        [f"{a:.3g}", f"{m:.4f} ± {d:.4f}", marks.get(i, "")]
        for i, (a, m, d) in enumerate(zip(result.alphas, result.mean, result.deviation))
    ]
    print("\n".join(aligned([["alpha", "accuracy", ""], *shown])))
    print(f"\n{how}")
    print(f"best mean: alpha = {result.alphas[result.best]:.3g}")
    print(f"largest alpha within one standard error of it: {result.alphas[result.one_standard_error]:.3g}")
    print(OPTIMISTIC)
    _show_edge(result.edge, "--alphas")


def _show_edge(edge: Edge | None, option: str) -> None:
    if edge is not None:
        print(f"note: {replace(edge, why=f'{option} names others')}")


def _edge_facts(edge: Edge | None) -> dict[str, Any] | None:
    return None if edge is None else {"parameter": edge.parameter, "value": edge.value, "end": edge.place}


def check_picture(out: Path | None) -> None:
    """Refuse a picture that cannot be written, before the work; one that is named may be replaced."""
    if out is not None:
        check_ending(out)
        check_file(out, named=True, force=False)


def keep_picture(ax: Any, place: Path, as_json: bool) -> None:
    """Write a picture, and say where."""
    saved(ax, place)
    if not as_json:
        print(f"picture: {visible(place)}")


def _said(chosen: dict[str, Any]) -> str:
    return f"k = {chosen['n_neighbors']}, {chosen['metric']}, {chosen['weights']}"


def _number(text: str, option: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"{option} must be a whole number >= 1, got {text!r}.")
    return int(text)


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"--alphas must be numbers with commas, got {text!r}.") from None
