"""Prints how our scheduled kernels compare with the hand-written ones of Hexagon NN.

python benchmarks/hand_written_kernels.py > table.md
"""

from __future__ import annotations

import statistics

from hexsim.hvx.streams.hand_written import comparison


def main() -> None:
    print("| kernel | tile | ours | stalls | theirs | deviation | source | reason |")
    print("|---|---|---|---|---|---|---|---|")
    deviations = []
    for row in comparison():
        kernel, off = row.kernel, row.deviation
        deviations.append(abs(off))
        reason = kernel.note if abs(off) > 0.05 else ""
        print(
            f"| {kernel.name} | {row.shape} | {kernel.packets} | {kernel.cost.stalls} "
            f"| {row.theirs} | {off:+.1%} | {row.source} | {reason} |"
        )
    within = sum(off <= 0.05 for off in deviations)
    print(
        f"\n{len(deviations)} rows, {within} within 5 %, median deviation "
        f"{statistics.median(deviations):.1%}, worst {max(deviations):.0%}."
    )


if __name__ == "__main__":
    main()
