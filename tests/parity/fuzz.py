"""Compares calls with fresh seeds, function after function, for as long as it is told.

    make fuzz SECONDS=300            # every function
    make fuzz FUNCTIONS=gather,pad   # these
    make fuzz SEED=7                 # the seed that a find was printed with
    python tests/parity/fuzz.py --rounds 1 --examples 500 --shares

Prints how many calls were tried, and each find: the call, and what it gave. Exits with 1 then. With
`--shares` it prints how many of a hundred calls were valid, out of bounds, invalid, and so on.
"""

import argparse
import random
import sys
import time
from pathlib import Path

import hypothesis
from hypothesis import settings

sys.path.append(str(Path(__file__).parents[1]))  # the records of the functions

from outcome import CLASSES, OPTIONS, Tally, clear_programs, examples
from peer import prepare
from table import ENTRIES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--functions", default="", help="names, with commas; default all")
    parser.add_argument("--seed", type=int, help="of the first round; default a fresh one")
    parser.add_argument("--examples", type=int, default=50, help="a function and round")
    parser.add_argument("--rounds", type=int, default=0, help="at most; default no limit")
    parser.add_argument("--shares", action="store_true", help="print shares, not counts")
    options = parser.parse_args()
    prepare()
    names = [name for name in options.functions.split(",") if name] or list(ENTRIES)
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    end = time.monotonic() + options.seconds
    tallies = {name: Tally() for name in names}
    finds = rounds = 0
    while time.monotonic() < end and not finds and not 0 < options.rounds <= rounds:
        for name in names:
            if time.monotonic() > end:
                break
            finds += search(name, seed, options.examples, tallies[name])
            clear_programs()
        seed += 1
        rounds += 1
    if options.shares:
        print(" " * 28, " ".join(f"{key:>13s}" for key in CLASSES))
    for name, tally in tallies.items():
        print(f"{name:28s} {tally.shares() if options.shares else tally}")
    print(f"{sum(tally['calls'] for tally in tallies.values())} calls, {finds} finds")
    return min(finds, 1)


def search(name: str, seed: int, number: int, tally: Tally) -> int:
    run = examples(ENTRIES[name], tally, settings(OPTIONS, max_examples=number))
    try:
        hypothesis.seed(seed)(run)()
    except Exception as error:
        found = list(leaves(error))
        for leaf in found:
            print(f"{name}, seed {seed}: {type(leaf).__name__}: {leaf}")
            print("\n".join(getattr(leaf, "__notes__", [])), flush=True)
        return len(found)
    return 0


def leaves(error: BaseException):
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from leaves(part)
    else:
        yield error


if __name__ == "__main__":
    sys.exit(main())
