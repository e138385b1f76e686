"""Golden times: what the simulator said when somebody last looked and accepted it.

    python -m tests.golden.times     print what drifted and write the new times

A change of a constant, a stream or a rule moves them. Whoever accepts the drift says why in the
changelog.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hexsim.datasheets import chips
from hexsim.dlc.loading import load
from hexsim.runtimes import Runtime
from tests.deployed import deployed

FILE = Path(__file__).with_suffix(".json")
CHIPS = ("sd820", "sd835", "sd845", "sd855", "sd865")
NETWORKS = ("alexnet", "googlenet", "mobilenet_v1", "mobilenet_v2", "resnet50", "squeezenet1_1")
RUNTIMES: tuple[Runtime, ...] = ("cpu", "gpu", "dsp")
ELSEWHERE = "squeezenet1_1"
"""The network of the other chips, on the DSP or the tensor processor."""
TENSOR_PROCESSOR: tuple[Runtime, ...] = ("htp", "htp_fp16")


class Case(NamedTuple):
    """An inference whose time is accepted."""

    chip: str
    runtime: Runtime
    network: str

    def __str__(self) -> str:
        return " ".join(self)


def cases() -> list[Case]:
    """All inferences, network by network."""
    return (
        [Case(chip, runtime, name) for name in NETWORKS for chip in CHIPS for runtime in RUNTIMES]
        + [Case(chip, "dsp", ELSEWHERE) for chip in other_chips()]
        + [
            Case(c, runtime, ELSEWHERE)
            for c in with_tensor_processor()
            for runtime in TENSOR_PROCESSOR
        ]
    )


def simulated(chosen: Sequence[Case]) -> dict[str, float]:
    """Total inference times in microseconds, by `chip runtime network`."""
    models = {name: load(name) for name in {case.network for case in chosen}}
    return {
        str(case): deployed(models[case.network], case.runtime, case.chip).simulate().total_us
        for case in chosen
    }


def other_chips() -> list[str]:
    """The chips that simulate a DSP, but for those above."""
    return [
        name for name in chips.names() if name not in CHIPS and chips.load(name).simulates("dsp")
    ]


def with_tensor_processor() -> list[str]:
    """The chips that simulate one."""
    return [name for name in chips.names() if chips.load(name).simulates("htp")]


def accepted() -> dict[str, float]:
    """The times in the repository."""
    times: dict[str, float] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return times


def drift(old: dict[str, float], new: dict[str, float]) -> list[str]:
    """A line per time that moved by more than rounding, appeared or went."""
    lines = []
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before is None or after is None:
            lines.append(f"{key}: {before} -> {after} us")
        elif abs(after / before - 1) > 1e-6:
            lines.append(f"{key}: {before:.3f} -> {after:.3f} us ({after / before - 1:+.2%})")
    return lines


if __name__ == "__main__":
    times = simulated(cases())
    print("\n".join(drift(accepted(), times)) or "nothing drifted")
    FILE.write_text(json.dumps(times, indent=1) + "\n")
