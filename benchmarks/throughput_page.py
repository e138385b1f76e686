"""The tables of docs/results/throughput.md: what instances gain on sd855, and what priorities do.

python -m benchmarks.throughput_page --write    puts them into the page, and the example of
                                                docs/concepts/throughput.md into that one
"""

from __future__ import annotations

import sys
from collections import Counter

import hexsim
from benchmarks.aip_tables import with_sections
from benchmarks.pages import CONCEPTS, RESULTS, fenced, with_block
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.dlc.loading import load
from hexsim.files.atomic_write import write_text
from hexsim.q6_scheduler import PriorityHint
from hexsim.results.throughput import Thread, Throughput
from hexsim.studies.throughput import Caller, ClosedLoop, throughput

PAGE = RESULTS / "throughput.md"
CONCEPT = CONCEPTS / "throughput.md"
NETWORKS = ("alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1")
HINTS: tuple[tuple[PriorityHint, PriorityHint], ...] = (
    ("normal", "normal"),
    ("high", "low"),
    ("low", "high"),
)
SD855 = Platform.load("sd855")


def caller(network: str, instances: int = 1, priority: PriorityHint = "normal") -> Caller:
    """Threads of a built-in network on the DSP."""
    return Caller(deploy(load(network), SD855, "dsp").plan, instances, priority)


def example() -> str:
    """Return what `hexsim throughput mobilenet_v2 --chip sd855 --instances 2` prints."""
    return fenced(str(hexsim.throughput("mobilenet_v2", chip="sd855", instances=2)))


def gains() -> str:
    """Return a row per network: one, two and three instances."""
    rows = [
        "| network | one, infs/sec | two | gain | three | gain | two limited by |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in NETWORKS:
        two, three = (throughput(SD855, [caller(name, count)]) for count in (2, 3))
        alone = two.threads[0].alone.inferences_per_second
        rows.append(
            f"| `{name}` | {alone:.1f} | {_gain(two)} | {_gain(three)} "
            f"| {two.limited_by or 'nothing'} |"
        )
    return "\n".join(rows)


def on_aip() -> str:
    """Return a row per network: one and two instances with automatic HTA sections."""
    rows = [
        "| network | HTA + HVX subnets | one, infs/sec | two | gain | contexts in use | array |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in NETWORKS:
        plan = with_sections(load(name), SD855).plan
        engines = Counter(subnet.engine for subnet in plan.subnets)
        two = throughput(SD855, [Caller(plan, 2)])
        used = two.utilisation
        rows.append(
            f"| `{name}` | {engines['hta']} + {engines['hvx']} "
            f"| {two.threads[0].alone.inferences_per_second:.1f} | {_gain(two)} "
            f"| {used.get('hvx contexts', 0):.0%} | {used['hta array']:.0%} |"
        )
    return "\n".join(rows)


def priorities() -> str:
    """Return a row per pair of hints: half a second of one network beside two of another."""
    rows = [
        "| priority of mobilenet_v2 / alexnet | mobilenet_v2 median ms | images "
        "| alexnet median ms | images |",
        "|---|---|---|---|---|",
    ]
    for mine, others in HINTS:
        callers = [caller("mobilenet_v2", 1, mine), caller("alexnet", 2, others)]
        first, *rest = throughput(SD855, callers, ClosedLoop(duration_ms=500)).threads
        images = " + ".join(f"{other.inferences}" for other in rest)
        rows.append(
            f"| {mine} / {others} | {_median(first)} | {first.inferences} "
            f"| {_median(rest[0])} | {images} |"
        )
    return "\n".join(rows)


def concept() -> str:
    """Return the page on several instances with the example of today."""
    return with_block(CONCEPT.read_text(encoding="utf-8"), "example", example())


def page() -> str:
    """Return the page with the tables of today."""
    text = with_block(PAGE.read_text(encoding="utf-8"), "gains", gains())
    text = with_block(text, "aip", on_aip())
    return with_block(text, "priorities", priorities())


def _gain(result: Throughput) -> str:
    return f"{result.total.inferences_per_second:.1f} | {result.gain:.2f}"


def _median(thread: Thread) -> str:
    return f"{thread.latency_us['median'] / 1e3:.1f}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        write_text(PAGE, page())
        write_text(CONCEPT, concept())
    else:
        print(page())
