"""python -m benchmarks [CONTEST ...]: run contests and print their tables; --keep makes data files and pages of them."""

import argparse
import shlex
import signal
import sys
from collections.abc import Callable, Sequence

from benchmarks import environment, report, results
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
    p.add_argument(
        "--only", default="", metavar="TEXT", help="hold the heats that have TEXT in their titles alone"
    )
    p.add_argument("--fresh", action="store_true", help="measure anew what the cache holds")
    p.add_argument("--keep", action="store_true", help="write benchmarks/results/CONTEST.json, and the pages")
    p.add_argument("--pages", action="store_true", help="write the pages from the data files and end")
    return p


def chosen(names: Sequence[str]) -> list[Contest]:
    """Contests by name; those whose names begin with what is given, where none has it as its own."""
    unknown = [name for name in names if not any(c.name.startswith(name) for c in CONTESTS)]
    if unknown:
        known = ", ".join(c.name for c in CONTESTS)
        raise SystemExit(f"No contest is called {', '.join(unknown)}: choose among {known}.")
    whole = {c.name for c in CONTESTS}
    return [
        c
        for c in CONTESTS
        if not names or any(c.name == n or (n not in whole and c.name.startswith(n)) for n in names)
    ]


def run(
    contests: Sequence[Contest],
    session: Session,
    command: str,
    threads: int = 2,
    keep: Callable[[report.Record], object] = lambda record: None,
) -> list[report.Record]:
    """All heats of the contests; each table is printed when it is done, and each contest is kept when it was held."""
    records = []
    for contest in contests:
        session.say(f"\n== {contest.name}: {contest.title}")
        heats, own = [], f"{command} {contest.name}"
        try:
            for heat in contest.heats(session):
                if session.options.only not in heat.title:
                    continue
                heats.append(report.Result.of(heat, run_heat(heat, session)))
                session.say(report.plain(heats[-1], contest.goal))
        except Exception as error:  # one contest that cannot be held must not end the others
            session.say(f"  {contest.name} was not held to its end: {error}")
        session.say(f"  made by: {own}")
        if heats:
            records.append(report.Record(contest.name, own, environment.line(threads), heats))
            if contest.summary is not None:
                session.say(contest.summary(records[-1]))
            keep(records[-1])
    return records


def main(arguments: Sequence[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    if args.list:
        for contest in CONTESTS:
            print(f"{contest.name:16} {contest.title} (goal: {contest.goal})")
        return 0
    if args.pages:
        write_pages()
        return 0
    if args.keep and args.quick:
        raise SystemExit("--keep and --quick exclude each other: figures of small cuts are not for the docs.")
    if args.keep and args.only:
        raise SystemExit("--keep and --only exclude each other: a part of a contest is not for the docs.")
    limit = args.limit or (20.0 if args.quick else 300.0)
    options = Options(args.quick, args.repeat, limit, args.slow, args.fresh, args.only)
    flags = f"{' --quick' if args.quick else ''} --repeat {args.repeat} --limit {limit:g}"
    if args.only:
        flags += f" --only {shlex.quote(args.only)}"
    if args.threads != 2:
        flags += f" --threads {args.threads}"
    print(environment.line(args.threads))
    print(f"data: {data_folder() or 'GENERATED stand-ins (set NEARLINE_DATA to a folder with real data)'}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the homes end with us
    with Pool(args.threads) as pool:
        session = Session(options, pool, Cache(CACHE), lambda text: print(text, flush=True))
        kept = results.keep if args.keep else lambda record: None
        run(chosen(args.contests), session, f"python -m benchmarks{flags}", args.threads, kept)
    if args.keep:
        write_pages()
    return 0


def write_pages() -> None:
    """The tables and the picture, from the data files."""
    results.TABLES.write_text(results.tables(CONTESTS))
    results.draw(CONTESTS)


if __name__ == "__main__":
    sys.exit(main())
