"""Turns an override into the encoding of the tensor it names, by the role of that tensor.

An activation has 8 or 16 bits, stored unsigned, not per channel; a weight 4, 8 or 16, asymmetric,
or symmetric per channel or if file or options say so; a weight in blocks 4. A bias has 8 bits, or
32: the accumulator's scale, which is also that of other widths from nodes of the file, with a
remark. Whether a kernel takes what can be stored is decided where kernels are chosen.

The numbers are read by the rules of docs/concepts/overrides.md. An offset counts by its magnitude:
AIMET has written both signs, and the guide's examples show magnitudes cut to whole numbers. A range
that has to be symmetric and is not becomes -limit to limit, exactly, where limit is its larger
magnitude; the guide advises is_symmetric for this. The tools refuse strict symmetry: -limit to
limit with an offset of -(2^(bits-1) - 1).
"""

from itertools import starmap

from hexsim.errors import HexsimError
from hexsim.graph.ir import Shape
from hexsim.quantization.encodings import AxisEncoding, BlockEncoding, Encoding
from hexsim.quantization.options import QuantizationOptions
from hexsim.quantization.overrides import BlockOverride, IntegerOverride, Range, apply
from hexsim.quantization.overrides.floats import Unranged
from hexsim.records import dataclass, replace

ACTIVATION_BITS = (8, 16)
WEIGHT_BITS = (4, 8, 16)
BIAS_BITS = (8, 32)
"""Widths that a .dlc file stores."""

AppliedEncoding = Encoding | AxisEncoding | Unranged | None
"""The content of an override: an encoding, a width alone, or the accumulator's scale (None)."""


@dataclass(frozen=True)
class Applied:
    """The result of applying an override; `encoding` None is the accumulator's scale of a bias.

    `remark` says what was changed when the override was applied, or is empty.
    """

    encoding: AppliedEncoding
    remark: str = ""


def activation(key: str, override: IntegerOverride, options: QuantizationOptions) -> Applied:
    """Return the encoding of an activation; raises HexsimError naming the key."""
    where = _where("activation", key, override)
    _require_bits(override, ACTIVATION_BITS, where)
    return _unsigned(override, options, where)


def bias(key: str, override: IntegerOverride, options: QuantizationOptions) -> Applied:
    """Return the encoding of a bias; raises HexsimError naming the key."""
    where = _where("bias", key, override)
    if override.source == "QDQ node" and (
        override.bitwidth not in BIAS_BITS or (override.bitwidth == 8 and override.per_channel)
    ):
        per_channel = " per channel" if override.per_channel else ""
        return Applied(
            None,
            f"{override.bitwidth} bits{per_channel} in the file, stored with 32 at the "
            "accumulator's scale",
        )
    _require_bits(override, BIAS_BITS, where)
    return Applied(None) if override.bitwidth == 32 else _unsigned(override, options, where)


def weight(
    key: str, override: IntegerOverride, channels: int, options: QuantizationOptions
) -> Applied:
    """Return the encoding of a weight with that many output channels.

    Raises HexsimError naming the key for widths, signs or channel counts that do not fit.
    """
    where = _where("weight", key, override)
    if override.bitwidth == 32:
        raise HexsimError(
            f"{where}: 32 bits are for biases, weights have {_listed(WEIGHT_BITS)}; the encoding "
            "of a bias seems to stand on a weight, check the names in the file"
        )
    _require_bits(override, WEIGHT_BITS, where)
    if override.per_channel:
        return _axis(override, channels, where)
    (entry,) = override.ranges
    symmetric_by_options = options.symmetric_weights or options.axis_weights
    if symmetric_by_options and override.symmetric is False:
        raise HexsimError(
            f"Requested symmetric weights but instead got is_symmetric==False. ({where}): "
            "quantise without symmetric or per-channel weights, or export a symmetric encoding"
        )
    if override.unranged:
        return Applied(Unranged(override.bitwidth, bool(override.symmetric)))
    if symmetric_by_options or (override.symmetric and not _all_positive(entry)):
        return _symmetric(entry, override, where)
    return Applied(*apply.asymmetric(entry, override.bitwidth, options.minimum_range, where))


def blocks(
    key: str, override: BlockOverride, shape: Shape, options: QuantizationOptions
) -> Applied:
    """Return the encoding of a weight in blocks, of shape (..., input channels, channels).

    Raises HexsimError naming the key if blocks do not fit the shape, or weights stay floats.
    """
    where = f"override of weight '{key}'"
    *_, depth, channels = shape
    if len(override.scales) != channels:
        raise HexsimError(
            f"{where}: {len(override.scales)} scales for {channels} output channels; give one per "
            "channel"
        )
    count = len(override.multiples) // channels
    if count * override.block_size != depth or count * channels != len(override.multiples):
        raise HexsimError(
            f"{where}: {len(override.multiples)} scales of blocks of {override.block_size} do not "
            f"fit {depth} input and {channels} output channels; export it for this network"
        )
    if override.decompressed_bitwidth != 8:
        raise HexsimError(
            f"{where}: blocks that decompress to {override.decompressed_bitwidth} bits fit no "
            "kernel; export them with 8 bits, or PER_CHANNEL"
        )
    if options.float_weights:
        raise HexsimError(
            f"{where}: its blocks are in the codes, and no codes are stored for weights that stay "
            "floats; quantise the weights too, or export it PER_CHANNEL"
        )
    encoding = BlockEncoding(
        tuple(apply.symmetric_steps(scale, 8) for scale in override.scales),
        override.bitwidth,
        override.block_size,
        tuple(
            override.multiples[channel * count : (channel + 1) * count]
            for channel in range(channels)
        ),
    )
    remark = (
        f"{override.bitwidth}-bit codes in blocks of {override.block_size} input channels (LPBQ), "
        "stored decompressed, with 8 bits"
    )
    return Applied(encoding, remark)


def folded(applied: Applied, factors: tuple[float, ...]) -> Applied:
    """Return the encoding of a parameter that conversion multiplied by `factors`, one per channel.

    Its codes stay the same, so its steps are multiplied. If that is impossible, or without factors
    (it was changed otherwise), only the width is taken.
    """
    encoding = applied.encoding
    if encoding is None or isinstance(encoding, Unranged) or set(factors) == {1.0}:
        return applied
    if isinstance(encoding, BlockEncoding | AxisEncoding) and factors:
        channels = encoding.channels
        times = factors if len(factors) > 1 else factors * len(channels)
        pairs = zip(channels, times, strict=True)
        return replace(applied, encoding=replace(encoding, channels=tuple(starmap(_times, pairs))))
    if isinstance(encoding, Encoding) and len(set(factors)) == 1:
        return replace(applied, encoding=_times(encoding, factors[0]))
    if isinstance(encoding, Encoding) and encoding.symmetric and factors:
        return replace(applied, encoding=AxisEncoding(tuple(_times(encoding, f) for f in factors)))
    remark = "converting changed its values, so its range is computed anew"
    return Applied(Unranged(encoding.bitwidth), remark)


def _times(encoding: Encoding, factor: float) -> Encoding:
    """Return the encoding of values `factor` times as large, in the same codes or negated ones."""
    if factor == 0:
        return encoding
    low, high = sorted((encoding.min * factor, encoding.max * factor))
    if encoding.symmetric:
        low, high = encoding.min * abs(factor), encoding.max * abs(factor)
    negated = factor < 0 and not encoding.symmetric
    offset = -encoding.steps - encoding.offset if negated else encoding.offset
    return replace(encoding, min=low, max=high, delta=encoding.delta * abs(factor), offset=offset)


def _axis(override: IntegerOverride, channels: int, where: str) -> Applied:
    if override.symmetric is False:
        raise HexsimError(
            f"Requested symmetric weights but instead got is_symmetric==False. ({where}): "
            "per-channel encodings must be symmetric, export them so"
        )
    if len(override.ranges) != channels:
        raise HexsimError(
            f"{where}: {len(override.ranges)} encodings for {channels} output channels; "
            "give one per channel, or one for all"
        )
    if override.unranged:
        return Applied(Unranged(override.bitwidth, symmetric=True, per_channel=True))
    applied = [
        _symmetric(entry, override, f"{where}, channel {channel}")
        for channel, entry in enumerate(override.ranges)
    ]
    encodings = tuple(
        channel.encoding for channel in applied if isinstance(channel.encoding, Encoding)
    )
    remarks = [
        f"channel {n}: {channel.remark}" for n, channel in enumerate(applied) if channel.remark
    ]
    more = f" (and {len(remarks) - 1} more channels)" if len(remarks) > 1 else ""
    return Applied(AxisEncoding(encodings), f"{remarks[0]}{more}" if remarks else "")


def _symmetric(entry: Range, override: IntegerOverride, where: str) -> Applied:
    bits = override.bitwidth
    if override.symmetric or entry.offset in (-(1 << (bits - 1)), 1 << (bits - 1)):
        return Applied(*apply.symmetric(entry, bits, where))
    return Applied(*apply.symmetric_limit(entry, bits, where))


def _all_positive(entry: Range) -> bool:
    """Return True for a range from 0 upwards: unsigned symmetric, it keeps all its codes."""
    return entry.min is not None and entry.min >= 0 and not entry.offset


def _unsigned(override: IntegerOverride, options: QuantizationOptions, where: str) -> Applied:
    """Return an encoding stored unsigned; a symmetric one keeps its steps and has an offset."""
    if override.per_channel:
        raise HexsimError(
            f"{where}: {len(override.ranges)} encodings; only weights have one per channel, "
            "give one"
        )
    (entry,) = override.ranges
    bits = override.bitwidth
    if override.unranged:
        return Applied(Unranged(bits, bool(override.symmetric)))
    if override.symmetric and not _all_positive(entry):
        encoding, remark = apply.symmetric(entry, bits, where)
        return Applied(replace(encoding, symmetric=False), remark)
    return Applied(*apply.asymmetric(entry, bits, options.minimum_range, where))


def _where(role: str, key: str, override: IntegerOverride) -> str:
    """Return where a message finds its cause: the user may have written no override."""
    return f"{override.source} of {role} '{key}'"


def _require_bits(override: IntegerOverride, known: tuple[int, ...], where: str) -> None:
    if override.bitwidth not in known:
        raise HexsimError(
            f"{where}: {override.bitwidth} bits cannot be stored; use {_listed(known)} bits"
        )


def _listed(widths: tuple[int, ...]) -> str:
    return " or ".join(map(str, widths))


_EXACTLY_SYMMETRIC = 0.25
"""Largest distance in steps between a minimum and -2^(bits-1) steps at which they count as equal.

Our choice: a range from -limit to limit misses it by half a step, and this is half of that."""


def asymmetric(entry: Range, bits: int, minimum_range: float, where: str) -> tuple[Encoding, str]:
    """Return the asymmetric encoding of `entry` and a remark, empty if nothing was changed.

    Raises HexsimError, beginning with `where`, if scale and offset alone are no encoding.
    """
    steps = (1 << bits) - 1
    if entry.scale is None or entry.offset is None:
        return _from_min_max(entry, bits, minimum_range), ""
    zero = abs(entry.offset)
    if entry.min is None or entry.max is None:
        if zero > steps:
            raise HexsimError(
                f"{where}: offset {entry.offset} lies outside the {steps + 1} codes of "
                f"{bits} bits; give an offset from {-steps} to 0"
            )
        return _from_delta(entry.scale, zero, bits), ""
    if not _agree(entry, zero, steps):
        return _from_min_max(entry, bits, minimum_range), _disagreement(entry)
    exact = min(max(round(-entry.min / entry.scale), 0), steps)
    return _from_delta(entry.scale, exact, bits), ""


def symmetric(entry: Range, bits: int, where: str) -> tuple[Encoding, str]:
    """Return the symmetric encoding of `entry` and a remark, empty if nothing was changed.

    Raises HexsimError, beginning with `where`, for a strict-symmetric offset or an empty range.
    """
    half = 1 << (bits - 1)
    if entry.scale is None or entry.offset is None:
        return symmetric_limit(entry, bits, where)
    zero = abs(entry.offset) or half  # signed codes are stored without their offset
    if entry.min is not None and zero == half - 1:  # cut to a whole number, or really strict
        zero = round(-entry.min / entry.scale)
    if zero == half - 1 and (entry.min is None or _mirrored(entry)):
        raise HexsimError(
            f"Invalid offset overridden for symmetric encodings got [{entry.offset}], expected "
            f"{-half}. ({where}): export the encodings without strict symmetry"
        )
    if entry.min is not None and not _agree(entry, zero, 2 * half - 1):
        return _limited(entry, bits, where), _disagreement(entry)
    if zero != half:
        return symmetric_limit(entry, bits, where)
    return symmetric_steps(entry.scale, bits), ""


def symmetric_limit(entry: Range, bits: int, where: str) -> tuple[Encoding, str]:
    """Return the symmetric encoding over the larger end of a range and a remark, as above."""
    if entry.min is None or entry.max is None:
        steps, _ = asymmetric(entry, bits, 0.0, where)
        entry = Range(steps.min, steps.max)
    encoding = _limited(entry, bits, where)
    ends = entry.min or 0.0, entry.max or 0.0
    tolerance = encoding.delta * _EXACTLY_SYMMETRIC
    if max(abs(encoding.min - ends[0]), abs(encoding.max - ends[1])) < tolerance:
        return encoding, ""
    low, high = encoding.min, encoding.max
    return encoding, f"asymmetric range made symmetric, {low:g} to {high:g}"


def symmetric_steps(delta: float, bits: int) -> Encoding:
    """Return the symmetric encoding with steps of `delta`."""
    half = 1 << (bits - 1)
    return Encoding(bits, -half * delta, (half - 1) * delta, delta, -half, symmetric=True)


def _limited(entry: Range, bits: int, where: str) -> Encoding:
    """Return the encoding of -2^(bits-1) to 2^(bits-1) - 1 steps, or of -limit to limit."""
    low, high = entry.min or 0.0, entry.max or 0.0
    half = 1 << (bits - 1)
    delta = (high - low) / (2 * half - 1)
    limit = max(abs(low), abs(high))
    if limit == 0:
        raise HexsimError(f"{where}: a symmetric range of zero width; leave the key out")
    if delta and abs(-low / delta - half) < _EXACTLY_SYMMETRIC:
        return symmetric_steps(delta, bits)
    return Encoding(bits, -limit, limit, 2 * limit / (2 * half - 1), -half, symmetric=True)


def _mirrored(entry: Range) -> bool:
    """Return True for a range of -limit to limit."""
    assert entry.scale is not None
    ends = (entry.min or 0.0) + (entry.max or 0.0)
    return abs(ends) < entry.scale * _EXACTLY_SYMMETRIC


def _from_min_max(entry: Range, bits: int, minimum_range: float) -> Encoding:
    return Encoding.from_range(entry.min or 0.0, entry.max or 0.0, bits, minimum_range)


def _from_delta(delta: float, zero: int, bits: int) -> Encoding:
    steps = (1 << bits) - 1
    return Encoding(bits, -zero * delta, (steps - zero) * delta, delta, -zero)


def _agree(entry: Range, zero: int, steps: int) -> bool:
    """Return True if scale and offset span the given range within one step."""
    assert entry.scale is not None
    assert entry.min is not None
    assert entry.max is not None
    low, high = -zero * entry.scale, (steps - zero) * entry.scale
    return max(abs(low - entry.min), abs(high - entry.max)) <= entry.scale * (1 + 1e-6)


def _disagreement(entry: Range) -> str:
    return (
        f"scale {entry.scale:g} and offset {entry.offset} do not span the given "
        f"[{entry.min:g}, {entry.max:g}]; recomputed from that range"
    )
