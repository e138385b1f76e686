"""The settings of a call and of its model, as the API and the commands take them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from hexsim.datasheets.background import Background
from hexsim.datasheets.background import load as load_background
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment.given import Preparation
from hexsim.deployment.platform import Platform
from hexsim.studies.benchmark import BenchmarkConditions


class CallSettings(TypedDict, total=False):
    """How a model is prepared and called; `hexsim.benchmark` describes each."""

    perf_profile: str | None
    idle_ms: float
    buffer: str | None
    background: str | Path | Iterable[str | Path]
    quantize: bool
    override_params: bool | None
    hta: bool
    cpu_fallback: bool
    input_dims: Mapping[str, Sequence[int]]


def preparation_of(how: CallSettings) -> Preparation:
    """Return how a model may be prepared; by default it is not quantised, and sections are made."""
    return Preparation(
        quantize=how.get("quantize", False),
        override_params=how.get("override_params"),
        hta=how.get("hta", True),
        faster_hta=True,
        cpu_fallback=how.get("cpu_fallback", True),
    )


def buffer_of(how: CallSettings, platform: Platform) -> BufferType | None:
    """Return the type of the user's buffers; None stands for the stack's."""
    name = how.get("buffer")
    return None if name is None else platform.stack.buffer(name)


def clients_of(how: CallSettings) -> tuple[Background, ...]:
    """Return the other clients of the DSP: one or more loads, by name or TOML file."""
    names = how.get("background", ())
    return tuple(map(load_background, [names] if isinstance(names, str | Path) else names))


def conditions_of(platform: Platform, how: CallSettings, **others: Any) -> BenchmarkConditions:
    """Return the conditions of a benchmark; `others` are its fields that no setting gives."""
    return BenchmarkConditions(
        perf_profile=how.get("perf_profile"),
        idle_ms=how.get("idle_ms", 0.0),
        buffer=buffer_of(how, platform),
        background=clients_of(how),
        preparation=preparation_of(how),
        input_dims=how.get("input_dims") or {},
        **others,
    )
