"""Which processor of which phone runs a network fastest, and how long it takes to begin.

python examples/compare_runtimes.py [MODEL]
"""

import sys

import hexsim
from hexsim.datasheets import chips

CHIPS = ("sd835", "sd845", "sd855")


def main(model: str) -> None:
    """Print a line for each chip and runtime, the fastest of a chip first."""
    floats = hexsim.load(model)
    codes = hexsim.quantize(floats)
    print("chip   runtime   file        begin ms       ms")
    for chip in CHIPS:
        rows = []
        for runtime in set(chips.load(chip).runtimes) - {"aip"}:  # see `hexsim partition`
            for file, of in (("float", floats), ("quantised", codes)):
                try:
                    result = hexsim.simulate(of, chip, runtime)
                except hexsim.HexsimError:  # not every runtime takes every file
                    continue
                begin_ms, ms = result.timing.init_ps / 1e9, result.total_us / 1000
                rows.append((ms, f"{chip:6} {runtime:9} {file:10} {begin_ms:9.2f} {ms:8.2f}"))
        print("\n".join(line for _, line in sorted(rows)))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "squeezenet1_1")
