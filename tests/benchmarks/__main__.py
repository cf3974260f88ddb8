"""``make bench``, or ``python -m tests.benchmarks [scoring|captions [options]]``: without a name, both as they are."""

import sys

from tests.benchmarks import bench_captions, bench_scoring

BENCHMARKS = {"scoring": bench_scoring.main, "captions": bench_captions.main}


def main(arguments: list[str]) -> int:
    """Run one benchmark with its options, or all. Returns 0, 1 if a value differs, or 2 for an unknown name."""
    if not arguments:
        return max([benchmark([]) for benchmark in BENCHMARKS.values()])
    if arguments[0] not in BENCHMARKS:
        print(f"usage: python -m tests.benchmarks [{'|'.join(BENCHMARKS)} [options]]", file=sys.stderr)
        return 2
    return BENCHMARKS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
