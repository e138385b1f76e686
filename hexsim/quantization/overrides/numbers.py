"""Computes an encoding from the numbers of one override.

1. Minimum and maximum alone: the default rule, or for a symmetric code the range itself if it is
   -2^(bits-1) to 2^(bits-1) - 1 steps around zero, else rule 4.
2. Scale and offset as well: used if they agree with minimum and maximum within one step, else
   the range is encoded anew and a remark says so. Releases differ here: 1.59 and 2.5 use them as
   given, the guide of 2025 always recomputes.
3. An offset counts by its magnitude: AIMET has written both signs, and the guide's examples show
   magnitudes cut to whole numbers. With a minimum it is round(-min / scale).
4. A range that has to be symmetric and is not becomes -limit to limit, exactly, where limit is its
   larger magnitude; step and offset follow from these two as in the default rule, so the offset is
   -2^(bits-1). A remark says so unless the range was -limit to limit already. The guide advises
   is_symmetric for this: encodings that were measured asymmetric are stored symmetric. The tools
   refuse strict symmetry: -limit to limit with an offset of -(2^(bits-1) - 1).
"""

from hexsim.errors import HexsimError
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.overrides.override import Range

_EXACTLY_SYMMETRIC = 0.25
"""Largest distance in steps between a minimum and -2^(bits-1) steps at which they count as equal.

Our choice: a range from -limit to limit misses it by half a step, and this is half of that."""


def asymmetric(given: Range, bits: int, minimum_range: float, where: str) -> tuple[Encoding, str]:
    """Return the asymmetric encoding of `given` and a remark, empty if nothing was changed.

    Raises HexsimError, beginning with `where`, if scale and offset alone are no encoding.
    """
    steps = (1 << bits) - 1
    if given.scale is None or given.offset is None:
        return _from_min_max(given, bits, minimum_range), ""
    zero = abs(given.offset)
    if given.min is None or given.max is None:
        if zero > steps:
            raise HexsimError(
                f"{where}: offset {given.offset} lies outside the {steps + 1} codes of "
                f"{bits} bits; give an offset from {-steps} to 0"
            )
        return _from_delta(given.scale, zero, bits), ""
    if not _agree(given, zero, steps):
        return _from_min_max(given, bits, minimum_range), _disagreement(given)
    exact = min(max(round(-given.min / given.scale), 0), steps)
    return _from_delta(given.scale, exact, bits), ""


def symmetric(given: Range, bits: int, where: str) -> tuple[Encoding, str]:
    """Return the symmetric encoding of `given` and a remark, empty if nothing was changed.

    Raises HexsimError, beginning with `where`, for a strict-symmetric offset or an empty range.
    """
    half = 1 << (bits - 1)
    if given.scale is None or given.offset is None:
        return symmetric_limit(given, bits, where)
    zero = abs(given.offset) or half  # signed codes are stored without their offset
    if given.min is not None and zero == half - 1:  # cut to a whole number, or really strict
        zero = round(-given.min / given.scale)
    if zero == half - 1 and (given.min is None or _mirrored(given)):
        raise HexsimError(
            f"Invalid offset overridden for symmetric encodings got [{given.offset}], expected "
            f"{-half}. ({where}): export the encodings without strict symmetry"
        )
    if given.min is not None and not _agree(given, zero, 2 * half - 1):
        return _limited(given, bits, where), _disagreement(given)
    if zero != half:
        return symmetric_limit(given, bits, where)
    return symmetric_steps(given.scale, bits), ""


def symmetric_limit(given: Range, bits: int, where: str) -> tuple[Encoding, str]:
    """Return the symmetric encoding over the larger end of a range and a remark, as above."""
    if given.min is None or given.max is None:
        steps, _ = asymmetric(given, bits, 0.0, where)
        given = Range(steps.min, steps.max)
    encoding = _limited(given, bits, where)
    ends = given.min or 0.0, given.max or 0.0
    tolerance = encoding.delta * _EXACTLY_SYMMETRIC
    if max(abs(encoding.min - ends[0]), abs(encoding.max - ends[1])) < tolerance:
        return encoding, ""
    low, high = encoding.min, encoding.max
    return encoding, f"asymmetric range made symmetric, {low:g} to {high:g}"


def symmetric_steps(delta: float, bits: int) -> Encoding:
    """Return the symmetric encoding with steps of `delta`."""
    half = 1 << (bits - 1)
    return Encoding(bits, -half * delta, (half - 1) * delta, delta, -half, symmetric=True)


def _limited(given: Range, bits: int, where: str) -> Encoding:
    """Return the encoding of -2^(bits-1) to 2^(bits-1) - 1 steps, or of -limit to limit."""
    low, high = given.min or 0.0, given.max or 0.0
    half = 1 << (bits - 1)
    delta = (high - low) / (2 * half - 1)
    limit = max(abs(low), abs(high))
    if limit == 0:
        raise HexsimError(f"{where}: a symmetric range of zero width; leave the key out")
    if delta and abs(-low / delta - half) < _EXACTLY_SYMMETRIC:
        return symmetric_steps(delta, bits)
    return Encoding(bits, -limit, limit, 2 * limit / (2 * half - 1), -half, symmetric=True)


def _mirrored(given: Range) -> bool:
    """Return True for a range of -limit to limit."""
    assert given.scale is not None
    ends = (given.min or 0.0) + (given.max or 0.0)
    return abs(ends) < given.scale * _EXACTLY_SYMMETRIC


def _from_min_max(given: Range, bits: int, minimum_range: float) -> Encoding:
    return Encoding.from_range(given.min or 0.0, given.max or 0.0, bits, minimum_range)


def _from_delta(delta: float, zero: int, bits: int) -> Encoding:
    steps = (1 << bits) - 1
    return Encoding(bits, -zero * delta, (steps - zero) * delta, delta, -zero)


def _agree(given: Range, zero: int, steps: int) -> bool:
    """Return True if scale and offset span the given range within one step."""
    assert given.scale is not None
    assert given.min is not None
    assert given.max is not None
    low, high = -zero * given.scale, (steps - zero) * given.scale
    return max(abs(low - given.min), abs(high - given.max)) <= given.scale * (1 + 1e-6)


def _disagreement(given: Range) -> str:
    return (
        f"scale {given.scale:g} and offset {given.offset} do not span the given "
        f"[{given.min:g}, {given.max:g}]; recomputed from that range"
    )
