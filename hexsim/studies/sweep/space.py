"""The file of a space: networks, platforms and workloads in lists, and constants that vary.

    networks = ["mobilenet_v2"]
    chips = ["sd855"]
    draws = 100

    [workload]
    instances = [1, 2]

    [constants."dsp.hvx.contexts"]
    values = [1, 2, 4]

    [constants."memory.ddr_peak_bytes_per_s"]
    low = 10e9
    high = 60e9
    steps = 6
    scale = "log"

    [constants."memory.efficiency"]
    drawn = true

A constant takes the values of a list or the steps of a range, each combined with all others; or it
is drawn, and `draws` points of a Latin hypercube over all drawn constants are combined with the
rest. Ends of a range that are left out are the constant's bounds in its datasheet.

`anchor = "resnet50=1.23"`, or the parameter `anchor`, calibrates the one chip to a
latency, or to the profile of a network, `"resnet50=profile.json"`; a result has its factors as
`anchor_classes`.

`vtcm_mb = [2, 4]`, or the parameter of this name, is the VTCM that each graph on a tensor processor
may use, in MB; without it, all that the chip has.

Language models have a list of their own, `language_models = ["config.json"]`, and a table
`[language_model]` of the ways in which they are deployed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from msgspec import Meta, field, structs

from hexsim.datasheets.quantity import Quantity
from hexsim.datasheets.stacks import BufferType
from hexsim.deployment.calibrated import parsed
from hexsim.deployment.calibration import CalibrationProfile, ClassFactor
from hexsim.deployment.platform import Anchor
from hexsim.errors import HexsimError, note
from hexsim.runtimes import DEFAULT_CHIP, RuntimeChoice, assumed
from hexsim.studies.throughput import MOST_INSTANCES
from hexsim.texts.tables import Checked, Table, read
from hexsim.texts.text import read_text
from hexsim.texts.trees import parse_toml

Cut = Literal["automatic", "fastest"]
"""Which sections the tensor engine gets: the compiler's, or the fastest of all legal ones."""

_MOST = 2**63 - 1
"""Largest point number that its column can hold."""

Item = TypeVar("Item")


def _twice(items: tuple[Any, ...]) -> str | None:
    repeated = [item for at, item in enumerate(items) if item in items[:at]]
    return f"{repeated[0]!r} only once" if repeated else None


Several = Annotated[tuple[Item, ...], Meta(min_length=1), Checked(_twice)]
"""A list of a TOML file that is not empty and has no item twice."""


class Variation(Table, forbid_unknown_fields=True):
    """How one constant varies: `values`, `steps` over a range, or `drawn` from a range."""

    values: Several[float] | None = None
    low: float | None = None
    high: float | None = None
    steps: Annotated[int, Meta(ge=2)] | None = None
    scale: Literal["linear", "log"] = "linear"
    drawn: bool = False

    def fault(self) -> str | None:
        """Return which of the three ways is expected."""
        if (self.values is not None) + (self.steps is not None) + self.drawn != 1:
            return "one of values = [...], steps = 5, drawn = true"
        if self.values is not None and (self.low, self.high) != (None, None):
            return "no low and high beside values"
        return None

    @property
    def count(self) -> int:
        """Number of values that are combined with others; 1 if it is drawn."""
        return len(self.values) if self.values is not None else self.steps or 1

    def ends(self, constant: Quantity) -> tuple[float | None, float | None]:
        """Return the ends of the range; those that are not given are the constant's own bounds."""
        low = constant.low if self.low is None else self.low
        high = constant.high if self.high is None else self.high
        return low, high

    def value_at(self, constant: Quantity, step: int, share: float) -> float:
        """Return the value at a `step` of a list or range or, if drawn, at a `share` (0 .. 1)."""
        if self.values is not None:
            return self.values[step]
        low, high = self.ends(constant)
        assert low is not None, "settings checks that ranges have ends"
        assert high is not None, "settings checks that ranges have ends"
        if self.steps is not None:
            share = step / (self.steps - 1)
        if share in (0.0, 1.0):
            return high if share else low
        if self.scale == "log":
            return float(np.exp(np.log(low) + share * (np.log(high) - np.log(low))))
        return low + share * (high - low)


class Calls(Table, forbid_unknown_fields=True):
    """How the networks are called; every combination is one workload.

    Profiles and buffers are the stack's own by default. More than one instance, or a background,
    makes a closed loop of `inferences` calls each.
    """

    instances: Several[Annotated[int, Meta(ge=1, le=MOST_INSTANCES)]] = (1,)
    background: Several[tuple[str, ...]] = ((),)
    perf_profiles: Several[str] | None = None
    buffers: Several[BufferType] | None = None
    idle_ms: Several[Annotated[float, Meta(ge=0)]] = (0.0,)
    inferences: Annotated[int, Meta(ge=1)] = 10

    def fault(self) -> str | None:
        """Return what is expected where a closed loop would pause."""
        if any(self.idle_ms) and (max(self.instances) > 1 or any(self.background)):
            return (
                "no idle_ms beside several instances or a background, which make a loop of calls "
                "without a pause"
            )
        return None

    @property
    def count(self) -> int:
        """Number of workloads."""
        lists = (self.instances, self.background, self.perf_profiles, self.buffers, self.idle_ms)
        return math.prod(len(items) for items in lists if items is not None)


class LanguageModelDeployments(Table, forbid_unknown_fields=True):
    """How language models are deployed; every combination is simulated.

    Weights have the bits of the file by default. Lengths are numbers of tokens.
    """

    weights: Several[str] | None = None
    activations: Several[str] = ("16",)
    contexts: Several[int] = (4096,)
    blocks: Several[int] = (128,)
    prompt: int = 1024

    @property
    def count(self) -> int:
        """Number of deployments."""
        lists = (self.weights or (None,), self.activations, self.contexts, self.blocks)
        return math.prod(map(len, lists))


class Space(Table, forbid_unknown_fields=True):
    """All combinations of all lists are simulated. Stacks are each chip's own by default."""

    networks: Several[str] | None = None
    language_models: Several[str] | None = None
    language_model: LanguageModelDeployments = LanguageModelDeployments()
    chips: Several[str] = (DEFAULT_CHIP,)
    stacks: Several[str] | None = None
    runtimes: Several[RuntimeChoice] = ("auto",)
    cuts: Several[Cut] = ("automatic",)
    vtcm_mb: Several[Annotated[float, Meta(gt=0)]] | None = None
    workload: Calls = Calls()
    constants: Mapping[str, Variation] = field(default_factory=dict)
    draws: Annotated[int, Meta(ge=1)] = 1
    seed: Annotated[int, Meta(ge=0)] = 0
    anchor: str | None = None
    anchor_classes: tuple[ClassFactor, ...] | None = None

    def fault(self) -> str | None:
        """Return what is expected of networks, draws and the number of points."""
        if self.networks is None and self.language_models is None:
            return "networks or language_models"
        if self.language_models is not None and self.workload != Calls():
            return "no workload beside language_models, which are called alone"
        if self.draws > 1 and not self.drawn:
            return "a constant with drawn = true to draw"
        if self.count > _MOST:
            return f"at most {_MOST:.3g} points"
        return None

    @property
    def measured(self) -> Anchor | None:
        """What `anchor` names; HexsimError if that is nothing measured."""
        anchor = None if self.anchor is None else parsed(self.anchor)
        if isinstance(anchor, CalibrationProfile):
            return replace(anchor, classes=self.anchor_classes or ())
        return anchor

    def calibrated_with(self, anchor: Anchor | None) -> Space:
        """Return the space with the factors that a profile gave on its chip."""
        classes = anchor.classes if isinstance(anchor, CalibrationProfile) else None
        return structs.replace(self, anchor_classes=classes)

    def stated_by(self, anchor: str | None, vtcm_mb: float | None) -> Space:
        """Return the space with what a caller states besides; a VTCM of 0 is all of it."""
        changes: dict[str, Any] = {} if anchor is None else {"anchor": anchor}
        if vtcm_mb is not None:
            changes["vtcm_mb"] = (vtcm_mb,) if vtcm_mb else None
        return structs.replace(self, **changes)

    @property
    def ways(self) -> Iterator[tuple[RuntimeChoice, Cut]]:
        """Runtimes with cuts; only aip has several cuts."""
        for runtime in self.runtimes:
            cuts: tuple[Cut, ...] = self.cuts if runtime == "aip" else ("automatic",)
            yield from ((runtime, cut) for cut in cuts)

    @property
    def count(self) -> int:
        """Number of points."""
        planned = len(self.networks or ()) * len(tuple(self.ways)) * self.workload.count
        deployed = len(self.language_models or ()) * self.language_model.count
        platforms = (
            len(self.chips) * len(self.stacks or ("its own",)) * len(self.vtcm_mb or ("all",))
        )
        steps = (how.count for how in self.constants.values())
        return (planned + deployed) * platforms * math.prod((*steps, self.draws))

    @property
    def drawn(self) -> tuple[str, ...]:
        """The constants that are drawn."""
        return tuple(path for path, how in self.constants.items() if how.drawn)


def read_space(source: Path | Mapping[str, Any]) -> Space:
    """Read the file of a space, or what a file would hold.

    Raises HexsimError that names file, key and what was expected.
    """
    where = str(source) if isinstance(source, Path) else "the space"
    tree: Any = source if isinstance(source, Path) else dict(source)
    if isinstance(source, Path):
        text = read_text(source, "space", "give a TOML file that says what to sweep")
        tree = parse_toml(text, where, as_written=True)
    space = read(Space, tree, where)
    if "chips" not in tree:
        note(assumed(DEFAULT_CHIP, "the space names no chips"))
    if space.anchor_classes is not None:
        raise HexsimError(f"{where}: 'anchor_classes' is a key of results; state 'anchor' here")
    return space
