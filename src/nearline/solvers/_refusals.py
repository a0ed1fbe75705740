"""Sentences by which several solvers refuse a risk."""

from nearline.losses import LOSSES
from nearline.risk import Risk

BY_SLACK = tuple(name for name, loss in LOSSES.items() if loss.own.slack is not None)


def needs_gradient(risk: Risk, name: str) -> str | None:
    """The one sentence by which gradient methods refuse."""
    if risk.loss.refusal is not None:
        return f"{risk.loss.refusal}."
    if not risk.loss.smooth:
        other = "'dual-coordinate-descent' (with an L2 penalty) or 'sgd'"
        return f"Solver '{name}' needs a smooth loss and '{risk.loss.name}' has kinks: use {other}."
    if not (risk.elastic or risk.regularizer.knows("gradient")):
        other = "use 'fista'" if risk.regularizer.knows("prox") else "define it, or its prox for 'fista'"
        return f"Solver '{name}' needs the gradient of a penalty and '{risk.regularizer.name}' defines none: {other}."
    if not risk.smooth:
        other = "'coordinate-descent' or 'fista'" if risk.elastic else "'fista'"
        return f"Solver '{name}' needs a smooth penalty and '{risk.regularizer.name}' has kinks: use {other}."
    return None


def needs_elastic(risk: Risk, name: str) -> str | None:
    """Solvers that read l1 and l2 refuse all other penalties: they would minimize something else."""
    if risk.elastic:
        return None
    able = who_can(risk)
    return (
        f"Solver '{name}' serves penalties l1 |W|_1 + (l2/2) |W|^2 and '{risk.regularizer.name}' is not one of them: "
        + (f"use {able}." if able else "define its gradient or prox.")
    )


def needs_slack(risk: Risk, name: str) -> str | None:
    """Solvers of programs with slack variables refuse losses that none describe, and penalties that are not elastic."""
    if risk.loss.refusal is not None:
        return f"{risk.loss.refusal}."
    if not risk.elastic:
        return needs_elastic(risk, name)
    if risk.loss.own.slack is not None:
        return None
    able = "'lbfgs' or 'fista'" if risk.loss.smooth else "'sgd'"
    return f"Solver '{name}' serves {', '.join(map(repr, BY_SLACK))}, not '{risk.loss.name}': use {able}."


def who_can(risk: Risk) -> str:
    """Solvers for a penalty that is not elastic, by what it defines and what the loss is; empty if there is none."""
    knows = risk.regularizer.knows
    able = {
        "'lbfgs'": risk.loss.smooth and knows("gradient"),
        "'fista'": risk.loss.smooth and knows("prox"),
        "'smoothing'": rounds_off(risk),
        "'sgd'": not risk.loss.smooth and (knows("gradient") or knows("prox")),
    }
    return " or ".join(solver for solver, can in able.items() if can)


def rounds_off(risk: Risk) -> bool:
    """Whether 'smoothing' serves a loss with kinks under a penalty: it must be met by a prox, and certified."""
    if risk.loss.smooth or risk.unpenalized or risk.loss.smoothed(1.0) is None:
        return False
    return proves_by_prox(risk)


def proves_by_prox(risk: Risk) -> bool:
    """Whether the penalty can be met by a prox, and a gap be certified."""
    return risk.elastic or (risk.regularizer.knows("prox") and risk.regularizer.knows("conjugate"))


def needs_piece(risk: Risk, name: str, method: str, what: str, able: str) -> str | None:
    """Refuse a penalty of one's own that does not define what the solver needs of it."""
    if risk.elastic or risk.regularizer.knows(method):
        return None
    return (
        f"Solver '{name}' needs {what} of a penalty and '{risk.regularizer.name}' defines none: "
        f"define {method}, or use {able}."
    )
