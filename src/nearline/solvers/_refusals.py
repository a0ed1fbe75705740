"""Sentences by which several solvers refuse a risk."""

from nearline.risk import Risk


def needs_elastic(risk: Risk, name: str) -> str | None:
    """Solvers that read l1 and l2 refuse all other penalties: they would minimize something else."""
    if risk.elastic:
        return None
    penalty = risk.regularizer
    able = [f"'{other}'" for other, need in (("lbfgs", "gradient"), ("fista", "prox")) if penalty.knows(need)]
    served = able and risk.loss.smooth
    return (
        f"Solver '{name}' serves penalties l1 |W|_1 + (l2/2) |W|^2 and '{penalty.name}' is not one of them: "
        + (f"use {' or '.join(able)}." if served else "define its gradient or prox, and take a smooth loss.")
    )


def needs_piece(risk: Risk, name: str, method: str, what: str, able: str) -> str | None:
    """Refuse a penalty of one's own that does not define what the solver needs of it."""
    if risk.elastic or risk.regularizer.knows(method):
        return None
    return (
        f"Solver '{name}' needs {what} of a penalty and '{risk.regularizer.name}' defines none: "
        f"define {method}, or use {able}."
    )
