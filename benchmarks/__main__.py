"""python -m benchmarks [CONTEST ...]: run contests and print their tables."""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import environment, report
from benchmarks.cache import Cache
from benchmarks.contests import CONTESTS
from benchmarks.data import CACHE, data_folder
from benchmarks.harness import Contest, Options, Session, run_heat
from benchmarks.homes import Pool


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Contests side by side with other libraries."
    )
    p.add_argument(
        "contests", nargs="*", metavar="CONTEST", help="names or their beginnings; all if none is given"
    )
    p.add_argument("--list", action="store_true", help="list the contests and end")
    p.add_argument("--quick", action="store_true", help="small cuts of the data, to see that all runs")
    p.add_argument("--repeat", type=int, default=5, help="turns; the best counts (default 5)")
    p.add_argument("--limit", type=float, default=None, help="seconds a run may take (default 300, quick 20)")
    p.add_argument(
        "--slow", type=float, default=20.0, help="longer runs are not repeated, but cached (default 20 s)"
    )
    p.add_argument(
        "--threads", type=int, default=2, help="threads for each library (default 2; LIBLINEAR has 1)"
    )
    p.add_argument("--fresh", action="store_true", help="measure anew what the cache holds")
    p.add_argument("--json", type=Path, metavar="FILE", help="write all results there")
    p.add_argument(
        "--markdown", type=Path, metavar="FILE", help="put the tables between their marks in this file"
    )
    return p


def chosen(names: Sequence[str]) -> list[Contest]:
    """Contests whose names begin with one of those given."""
    unknown = [name for name in names if not any(c.name.startswith(name) for c in CONTESTS)]
    if unknown:
        known = ", ".join(c.name for c in CONTESTS)
        raise SystemExit(f"No contest is called {', '.join(unknown)}: choose among {known}.")
    return [c for c in CONTESTS if not names or any(c.name.startswith(name) for name in names)]


def run(
    contests: Sequence[Contest],
    session: Session,
    command: str,
    keep: Callable[[list[report.Result]], None] = lambda results: None,
) -> list[report.Result]:
    """All heats of the contests; each table is printed when it is done, and what is done is kept after each contest."""
    results: list[report.Result] = []
    for contest in contests:
        session.say(f"\n== {contest.name}: {contest.title}")
        try:
            for heat in contest.heats(session):
                done = report.result(contest, heat, f"{command} {contest.name}", run_heat(heat, session))
                session.say(report.plain(done))
                results.append(done)
        except Exception as error:  # one contest that cannot be held must not end the others
            session.say(f"  {contest.name} was not held: {error}")
        session.say(f"  made by: {command} {contest.name}")
        keep(results)
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    if args.list:
        for contest in CONTESTS:
            print(f"{contest.name:16} {contest.title} (goal: {contest.goal})")
        return 0
    limit = args.limit or (20.0 if args.quick else 300.0)
    options = Options(args.quick, args.repeat, limit, args.slow, args.fresh)
    flags = f"{' --quick' if args.quick else ''} --repeat {args.repeat} --limit {limit:g}"
    if args.threads != 2:
        flags += f" --threads {args.threads}"
    print(environment.line(args.threads))
    print(f"data: {data_folder() or 'GENERATED stand-ins (set NEARLINE_DATA to a folder with real data)'}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the homes end with us
    with Pool(args.threads) as pool:
        session = Session(options, pool, Cache(CACHE), lambda text: print(text, flush=True))
        run(
            chosen(args.contests),
            session,
            f"python -m benchmarks{flags}",
            lambda results: keep(args, results),
        )
    return 0


def keep(args: argparse.Namespace, results: list[report.Result]) -> None:
    """Write what is asked for, so that a run that is ended early loses one contest at most."""
    if args.json:
        args.json.write_text(
            json.dumps(report.as_json(results, environment.describe(args.threads)), indent=1)
        )
    if args.markdown and results:
        report.write_markdown(args.markdown, results, environment.line(args.threads))


if __name__ == "__main__":
    sys.exit(main())
