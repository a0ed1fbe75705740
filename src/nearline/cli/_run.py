"""From a command line to its exit code."""

from typing import Any

import typer

from nearline.cli._app import app
from nearline.cli._errors import MISUSED, guarded, show_usage
from nearline.cli._signals import heeded

# What wrong options raise: typer brings its own click, or takes the one installed.
USAGE: Any = typer.BadParameter.__mro__[1]


def run(arguments: list[str]) -> int:
    """Exit code of a command line; with --debug errors keep their traceback."""
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    with heeded() as heard:
        return heard.exit_code(guarded(lambda: _run(arguments), debug=debug))


def _run(arguments: list[str]) -> int:
    command: Any = typer.main.get_command(app)
    try:
        # not by way of main(), which makes other things of Ctrl-C and of exit codes
        with command.make_context("nearline", list(arguments) or ["--help"]) as context:
            result = command.invoke(context)
        return result if isinstance(result, int) else 0
    except typer.Exit as end:
        return int(end.exit_code)
    except USAGE as error:
        show_usage(error)
        return MISUSED
