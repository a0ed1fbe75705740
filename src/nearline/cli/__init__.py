"""The command line: ``nearline try``, ``predict``, ``explain`` and others. Heavy imports wait for a command."""

import sys


def main() -> None:
    """Entry point: errors are one or two sentences, 2 for usage, 1 for failure, 130 for Ctrl-C, 143 for SIGTERM."""
    try:
        import typer  # noqa: F401
    except ImportError:
        sys.exit('The command line needs typer, rich and polars: pip install "nearline[cli]"')
    from nearline.cli._run import run

    try:
        sys.exit(run(sys.argv[1:]))
    except Exception:  # with --debug
        import traceback

        from nearline._records.visible import visible

        sys.exit(visible(traceback.format_exc(), keep="\n\t"))
