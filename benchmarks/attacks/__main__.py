"""python -m benchmarks.attacks [NAME ...]: attack, and print a table; exit 1 if an attack succeeded."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.attacks import Attack, Outcome, failed, known


def attempt(attack: Attack) -> Outcome:
    """The attack's outcome in a folder of its own; an attack that breaks is not a defense that held."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return attack.run(Path(folder))
        except Exception as error:
            return failed(f"the attack itself broke: {type(error).__name__}: {error}")


def chosen(names: Sequence[str]) -> list[Attack]:
    """Attacks of the modules named, and those whose names begin with one of the names; all if there is none."""
    modules = known()
    everything = [(module, attack) for module, attacks in modules.items() for attack in attacks]
    found = [a for m, a in everything if not names or any(m == n or a.name.startswith(n) for n in names)]
    if names and not found:
        raise SystemExit(f"No attack is called {', '.join(names)}: choose among {', '.join(modules)}.")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="modules, or beginnings of attacks' names")
    attacks = chosen(parser.parse_args(arguments).names)
    failures: list[str] = []
    print("| attack | tries | refused | survived | failures |\n|---|---:|---:|---:|---:|")
    for attack in attacks:
        outcome = attempt(attack)
        print(
            f"| {attack.name} | {outcome.tries} | {outcome.refused} | {outcome.survived} | {len(outcome.failures)} |",
            flush=True,
        )
        failures += [f"{attack.name}: {why}" for why in outcome.failures]
    print("".join(f"\nFAILED {why}" for why in failures), end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
