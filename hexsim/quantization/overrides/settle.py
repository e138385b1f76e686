"""Decides for all overrides of a network which are applied, and why the others are ignored.

A layer that only moves codes has one encoding for input and output, by the rules of
docs/concepts/overrides.md: saturating before a maximum or a move has the same effect as after it. A
tensor inside an operator that became several layers has no override of its own. In an ONNX file
whose nodes code activations with 16 bits only, what no node codes is float, so that 8 bits would
lose what the others keep.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from hexsim.errors import HexsimError, InvalidDataError
from hexsim.graph.domains import require
from hexsim.graph.ir import Layer, Network
from hexsim.layers import Concat, Neuron, Weighted
from hexsim.quantization.encodings import AxisEncoding, Encoding
from hexsim.quantization.operands import coded_operands
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import (
    BlockOverride,
    FloatOverride,
    IntegerOverride,
    KeyOutcome,
    Outcome,
    Override,
    Overrides,
    OverrideSource,
    Section,
    apply,
)
from hexsim.quantization.overrides.apply import Applied, AppliedEncoding
from hexsim.quantization.overrides.floats import (
    FloatTensor,
    Unranged,
    float_outcome,
    float_tensors,
    never_coded,
)
from hexsim.quantization.overrides.targets import Missing, Targets, assigned, require_this_network
from hexsim.records import dataclass, field

_LISTED = 3
"""Tensors inside an operator that are named in one sentence."""
NOTHING: Mapping[str, str] = MappingProxyType({})
"""No tensor is outdated."""


@dataclass(frozen=True)
class GivenEncoding:
    """An encoding by override, and its source; None is the accumulator's scale of a bias."""

    encoding: AppliedEncoding
    source: OverrideSource


@dataclass(frozen=True)
class Settled:
    """The encodings and float widths by override of tensors and constants, and all outcomes."""

    encodings: Mapping[str, GivenEncoding] = field(default_factory=dict)
    floats: Mapping[str, FloatTensor] = field(default_factory=dict)
    outcomes: tuple[KeyOutcome, ...] = ()


def settle(
    overrides: Overrides,
    network: Network,
    options: QuantizationOptions,
    outdated: Mapping[str, str] = NOTHING,
) -> Settled:
    """Decide about every override.

    `outdated` maps the tensors and constants whose given ranges no longer hold to the reason.
    Widths and the accumulator's scale depend on no values and are applied all the same.
    Raises HexsimError if an override contradicts the options or cannot be stored, or if none of
    the keys belongs to this network.
    """
    overrides = assigned(overrides, network)
    require_this_network(overrides, network)
    targets = Targets(network, overrides)
    floats = float_tensors(overrides, network, targets, options)
    settling = _Settling(network, options, targets, floats, outdated, overrides.folded)
    for section, keys in overrides.sections():
        for key in sorted(keys, key=partial(_rank, keys, overrides)):
            settling.decide(section, key, keys[key])
    settling.share_among_movers()
    settling.calibrate_inside(overrides.inside)
    settling.widen_operands()
    settling.widen_uncoded()
    return Settled(settling.encodings, floats, tuple(settling.outcomes.values()))


def _rank(keys: Mapping[str, Override], overrides: Overrides, key: str) -> tuple[bool, bool]:
    """Sort the user's own file before the nodes, and a tensor's present name before an old one."""
    return keys[key].source != "override", key in overrides.renamed


class _Settling:
    def __init__(
        self,
        network: Network,
        options: QuantizationOptions,
        targets: Targets,
        floats: Mapping[str, FloatTensor],
        outdated: Mapping[str, str],
        folded: Mapping[str, tuple[float, ...]],
    ) -> None:
        self.encodings: dict[str, GivenEncoding] = {}
        self.outcomes: dict[tuple[Section, str], KeyOutcome] = {}
        self._network = network
        self._options = options
        self._targets = targets
        self._floats = floats
        self._outdated = outdated
        self._folded = folded
        self._keys: dict[str, tuple[tuple[Section, str], ...]] = {}

    def decide(self, section: Section, key: str, override: Override) -> None:
        """Apply one override, or record why it is ignored."""
        targets = self._targets.of(section, key)
        if isinstance(targets, Missing):
            outcome: Outcome = "ignored" if targets.known else "unmatched"
            self._note(section, key, override.source, outcome, targets.reason)
        elif self._is_impossible(section, key, override.source, override):
            return
        elif isinstance(override, FloatOverride):
            bits = override.float_bitwidth or self._options.float_bits
            outcome, reason = float_outcome(targets, bits, self._floats, self._network)
            remark = self._targets.remark(section, key)
            reason = "; ".join(filter(None, (remark, reason)))
            self._note(section, key, override.source, outcome, reason)
        else:
            self._apply(section, key, override, targets)

    def _apply(
        self,
        section: Section,
        key: str,
        override: IntegerOverride | BlockOverride,
        targets: tuple[str, ...],
    ) -> None:
        remarks = [self._targets.remark(section, key)]
        for target in targets:
            if reason := never_coded(target, self._network) or self._float(target):
                self._note(section, key, override.source, "ignored", reason)
                return
            applied = self._applied(key, target, override)
            if target in self._folded:
                applied = apply.folded(applied, self._folded[target])
            if self._is_impossible(section, key, override.source, applied.encoding):
                return
            has_range = applied.encoding is not None and not isinstance(applied.encoding, Unranged)
            if has_range and target in self._outdated:
                self._note(section, key, override.source, "ignored", self._outdated[target])
                return
            if self.encodings.get(target, applied).encoding != applied.encoding:
                reason = f"'{target}' is given otherwise by '{self._keys[target][0][1]}'"
                self._note(section, key, override.source, "ignored", reason)
                return
            self._keys[target] = (*self._keys.get(target, ()), (section, key))
            if target in self.encodings:
                continue
            self.encodings[target] = GivenEncoding(applied.encoding, override.source)
            remarks += [applied.remark, self._cut(target, applied.encoding)]
        reason = "; ".join(dict.fromkeys(filter(None, remarks)))
        self._note(section, key, override.source, "applied", reason)

    def _is_impossible(
        self, section: Section, key: str, source: OverrideSource, value: Override | AppliedEncoding
    ) -> bool:
        """Return True if numbers of an ONNX file make no encoding, which is recorded.

        Raises HexsimError for those of the user.
        """
        try:
            if value is not None and not isinstance(value, Unranged):
                require(value)
        except InvalidDataError as error:
            if source == "override":
                raise HexsimError(f"override '{key}': {error}; give another, or none") from None
            self._note(section, key, source, "ignored", str(error))
            return True
        return False

    def _float(self, target: str) -> str:
        """Return a sentence if `target` is float, else an empty string."""
        tensor = self._floats.get(target)
        return f"'{target}' is float{tensor.bits}, {tensor.origin}" if tensor else ""

    def _applied(self, key: str, target: str, override: IntegerOverride | BlockOverride) -> Applied:
        network, options = self._network, self._options
        if isinstance(override, BlockOverride):
            return self._blocks(key, target, override)
        if target not in network.weights:
            return apply.activation(key, override, options)
        weighted = (layer for layer in network.layers if isinstance(layer, Weighted))
        if any(target == layer.bias for layer in weighted):
            return apply.bias(key, override, options)
        return apply.weight(key, override, network.constants[target].shape[-1], options)

    def _blocks(self, key: str, target: str, override: BlockOverride) -> Applied:
        if not any(
            isinstance(layer, Weighted) and layer.weight == target for layer in self._network.layers
        ):
            raise HexsimError(
                f"override '{key}': blocks (LPBQ) are for weights of layers that multiply, and "
                f"'{target}' is none; export it PER_TENSOR"
            )
        shape = self._network.constants[target].shape
        return apply.blocks(key, override, shape, self._options)

    def _cut(self, target: str, encoding: AppliedEncoding) -> str:
        """Return a remark if a range cuts off values of a constant by more than a step."""
        if encoding is None or isinstance(encoding, Unranged):
            return ""
        if target not in self._network.constants:
            return ""
        values = self._network.constants[target].finite().astype(np.float64)
        channels = encoding.channels if isinstance(encoding, AxisEncoding) else (encoding,)
        low, high, delta = (
            np.array([getattr(channel, name) for channel in channels])
            for name in ("min", "max", "delta")
        )
        share = float(np.mean((values < low - delta) | (values > high + delta)))
        if share == 0:
            return ""
        return f"{share:.2%} of its values lie outside [{low.min():g}, {high.max():g}]"

    def share_among_movers(self) -> None:
        """Give input and output of every layer that moves codes one encoding (rules above)."""
        for layer in reversed(self._network.layers):
            if layer.moves_codes or (isinstance(layer, Neuron) and layer.function == "clamp"):
                self._hand_back(layer)
        for layer in self._network.layers:
            if layer.moves_codes:
                self._hand_on(layer)
            elif isinstance(layer, Concat):
                self._join(layer)

    def _hand_back(self, layer: Layer) -> None:
        source, output, network = layer.inputs[0], layer.output, self._network
        only_reader = len(network.consumers[source]) == 1 and source not in network.outputs
        free = source not in self.encodings and (only_reader or layer.rearranges)
        if output in self.encodings and free:
            self.encodings[source] = self.encodings[output]
            self._keys[source] = self._keys[output]

    def _hand_on(self, layer: Layer) -> None:
        source, output = layer.inputs[0], layer.output
        of_output, of_input = self.encodings.pop(output, None), self.encodings.get(source)
        if of_output is not None and (of_input is None or of_output.encoding != of_input.encoding):
            reason = f"layer '{layer.name}' ({layer.type}) keeps the encoding of its input"
            for section, key in self._keys[output]:
                self._note(section, key, of_output.source, "ignored", f"{reason} '{source}'")
        if of_input is not None:
            self.encodings[output] = of_input
            self._keys[output] = self._keys[source]

    def _join(self, layer: Concat) -> None:
        """Give a Concat without an override the encoding that all its inputs have."""
        source, *others = layer.inputs
        encodings = self.encodings.get(source)
        alike = all(name in self.encodings and self.encodings[name] == encodings for name in others)
        if encodings is not None and alike and layer.output not in self.encodings:
            self.encodings[layer.output] = encodings
            self._keys[layer.output] = self._keys[source]

    def calibrate_inside(self, inside: Mapping[str, str]) -> None:
        """Give tensors inside operators the widths of the outputs (rule above), and say so."""
        calibrated: dict[str, list[str]] = {}
        for name, output in inside.items():
            writer, bits = self._network.producers.get(name), self._bits(output)
            takes_that_of_input = writer is not None and writer.moves_codes
            if name in self.encodings or takes_that_of_input or bits is None:
                continue
            if not never_coded(name, self._network):
                calibrated.setdefault(output, []).append(name)
                self._give_width(name, bits, output)
        for output, names in calibrated.items():
            section, key = self._keys[output][0]
            outcome = self.outcomes[section, key]
            listed = ", ".join(f"'{name}'" for name in names[:_LISTED])
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            remark = f"its operator is several layers here; {listed}{more} inside are calibrated"
            reason = "; ".join(filter(None, (outcome.reason, remark)))
            self._note(section, key, outcome.source, outcome.outcome, reason)

    def widen_operands(self) -> None:
        """Give constants the widths of what is computed with them (rule above)."""
        for name in coded_operands(self._network):
            outputs = [layer.outputs[0] for layer in self._network.consumers[name]]
            widths = {self._bits(output) for output in outputs}
            bits = widths.pop()
            if bits is not None and not widths and name not in self.encodings:
                self._give_width(name, bits, outputs[0])

    def widen_uncoded(self) -> None:
        """Give what no node of a file of 16 bits codes the widths of this file (rule above)."""
        network = self._network
        of_nodes = {
            name
            for name, given in self.encodings.items()
            if name in network.tensors and given.source == "QDQ node"
        }
        if {self._bits(name) for name in of_nodes} != {16}:
            return
        for name in network.tensors.keys() - self.encodings.keys():
            writer = network.producers.get(name)
            moved = writer is not None and writer.moves_codes
            if not moved and not never_coded(name, network):
                self._give_width(name, 16, min(of_nodes))
        uncoded = network.constants.keys() - self.encodings.keys() - self._floats.keys()
        for layer in network.layers:
            coded = layer.outputs[0] not in self._floats
            if coded and isinstance(layer, Weighted) and layer.bias in uncoded:
                self.encodings[layer.bias] = GivenEncoding(None, "QDQ node")

    def _bits(self, name: str) -> int | None:
        match self.encodings.get(name):
            case GivenEncoding(Encoding(bitwidth=bits)) | GivenEncoding(Unranged(bits=bits)):
                return bits
            case _:
                return None

    def _give_width(self, name: str, bits: int, output: str) -> None:
        """Give a tensor the width of `output`, unless it has that anyway."""
        if bits != self._options.activation_bits and name not in self._floats:
            self.encodings[name] = GivenEncoding(Unranged(bits), self.encodings[output].source)

    def _note(
        self, section: Section, key: str, source: OverrideSource, outcome: Outcome, reason: str
    ) -> None:
        self.outcomes[section, key] = KeyOutcome(key, section, source, outcome, reason)
