"""Inputs outside the range of their codes (quantised values), which a user should hear about.

Codes that are given where real numbers are meant lie outside, and so do pictures that were scaled
in another way than those that calibrated the network. Real numbers given where codes are meant lie
within a few codes.

Left out: inputs of type image, whose numbers are checked one by one, and inputs of integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.graph.ir import FloatArray
from hexsim.graph.network_ends import CodedEnd
from hexsim.inputs.source import InputSource
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import NO_OVERRIDES, IntegerOverride, Overrides
from hexsim.quantization.overrides.apply import activation
from hexsim.records import dataclass, field
from hexsim.runtimes import FIXED_POINT
from hexsim.texts.figures import percent

TELLING = 0.01
"""Share of values outside that is reported; a quantiser that cuts off outliers leaves a hundredth
of it outside (percentile 99.99), and test inputs a few times that (our choice)."""
FEW_CODES = 16
"""Codes of a coded input of the file, fewer of which tell of another scale (our choice)."""
MOST_SETS = 16
"""Sets of inputs that are looked at, evenly over a list: a wrong scale is in all of them."""


@dataclass
class _Seen:
    """The range of one input, and what was seen of its values; numbers are in real units."""

    low: float
    high: float
    step: float
    end: CodedEnd | None
    values: int = 0
    outside: int = 0
    least: float = np.inf
    most: float = -np.inf
    whole: bool = True

    def take(self, array: FloatArray) -> None:
        if not array.size:
            return
        slack = self.step / 2  # nearer than that, the outermost code is the nearest one
        self.values += array.size
        self.outside += int(((array < self.low - slack) | (array > self.high + slack)).sum())
        self.least, self.most = min(self.least, array.min()), max(self.most, array.max())
        self.whole = self.whole and bool((array == np.rint(array)).all())

    def sentence(self, name: str) -> str | None:
        held = f"{self.low:.4g} .. {self.high:.4g}, the range of its codes"
        if self.values and self.outside >= TELLING * self.values:
            return (
                f"input '{name}': {percent(self.outside / self.values)} of the values lie outside "
                f"{held} (they reach from {self.least:.4g} to {self.most:.4g}); {self._remedy}"
            )
        span = (max(self.most, 0.0) - min(self.least, 0.0)) / self.step if self.values else 0.0
        if self.end is not None and 0 < span < FEW_CODES:
            return (
                f"input '{name}': the values reach from {self.least:.4g} to {self.most:.4g}, a few "
                f"codes of {held}; {self._remedy}"
            )
        return None

    @property
    def _remedy(self) -> str:
        if self.end is None:
            return "scale them as the network expects them, or quantise it on such inputs"
        limits, end = np.iinfo(self.end.type), self.end
        alike = self.whole and limits.min <= self.least and self.most <= limits.max
        codes = f"these look like the codes themselves ({end.type}): " if alike else ""
        if (end.scale, end.zero_point) == (1, 0):
            return f"give the codes ({end.type}) themselves, as numbers"
        real = f"{end.scale:.9g} * (code - {end.zero_point})"
        return f"{codes}give the real numbers that codes stand for, {real}"


@dataclass(frozen=True)
class InputRanges:
    """The inputs of a model that have a range, and what was seen of them."""

    seen: Mapping[str, _Seen] = field(default_factory=dict)

    @classmethod
    def of(
        cls, model: Model, overrides: Overrides = NO_OVERRIDES, *, in_codes: bool = True
    ) -> InputRanges:
        """Return the ranges of a model, or of a float one with the `overrides` for quantising it.

        Unless it computes `in_codes`, only inputs that are coded in the ONNX file have a range.
        """
        network, seen = model.network, dict[str, _Seen]()
        for name in network.inputs:
            if network.input_format(name).type != "default":
                continue
            if (end := network.coded_ends.get(name)) is not None:
                limits = np.iinfo(end.type)
                low, high = end.real(np.array([limits.min, limits.max], end.type)).tolist()
                seen[name] = _Seen(low, high, end.scale, end)
            elif in_codes:
                encoding = model.activations.get(name) or _given(overrides, name)
                if encoding is not None:
                    seen[name] = _Seen(encoding.min, encoding.max, encoding.delta, None)
        return cls(seen)

    @classmethod
    def on(cls, deployment: Deployment) -> InputRanges:
        """Return the ranges of a deployed model."""
        if deployment.runtime in FIXED_POINT:
            return cls.of(deployment.loaded)
        return cls.of(deployment.model, in_codes=False)

    def take(self, feed: Mapping[str, FloatArray]) -> None:
        """Look at one set of inputs, in stored order."""
        for name, seen in self.seen.items():
            seen.take(feed[name])

    def over(self, feeds: Iterable[Mapping[str, FloatArray]]) -> Iterator[Mapping[str, FloatArray]]:
        """Yield sets of inputs after looking at them."""
        for feed in feeds:
            self.take(feed)
            yield feed

    def sentences(self) -> list[str]:
        """Return a sentence for each input whose values do not suit its range."""
        lines = (seen.sentence(name) for name, seen in self.seen.items())
        return [sentence for sentence in lines if sentence is not None]


def unsuitable(ranges: InputRanges, source: InputSource) -> list[str]:
    """Return the sentences on inputs of `source`, of which up to `MOST_SETS` are looked at."""
    if ranges.seen:
        for index in range(0, source.sets, -(-source.sets // MOST_SETS)):
            ranges.take(source.read.feed(index))
    return ranges.sentences()


def _given(overrides: Overrides, name: str) -> Encoding | None:
    override = overrides.activations.get(name)
    if not isinstance(override, IntegerOverride) or override.unranged:
        return None
    try:
        encoding = activation(name, override, QuantizationOptions()).encoding
    except HexsimError:  # reported where it is applied
        return None
    return encoding if isinstance(encoding, Encoding) else None
