"""How the outputs of a runtime agree with float: the worst of them decides.

Outputs are not added up: a large one would hide a small one that is nothing but noise.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated

from hexsim.quantization.model import Reference
from hexsim.texts.fields import Decibels, Part, about
from hexsim.texts.figures import decibels, figure

SHOWN = 8
"""The most outputs that `each_output` names; JSON has all."""

NO_SIGNAL_DB = -999.0
"""SQNR of noise without any signal, which has no logarithm."""

LEAST_DB = 10.0
"""SQNR of outputs, in dB, below which they are no answer: over a tenth of their power is noise."""


class OutputAccuracy(Part):
    """An output as it is compared; the worst decides."""

    tensor: Annotated[str, about("the tensor that is compared")]
    sqnr_db: Annotated[Decibels | None, about("over all inputs; null without any noise")] = None
    negligible: Annotated[
        bool, about("a probability with no error of 1/255, a step of 8 bits, or more")
    ] = False


class Accuracy(Part):
    """Outputs compared with those in float; winners only of classifiers."""

    compared_on: Annotated[str, about("the inputs that judge")]
    sqnr_reference: Annotated[Reference, about("what the outputs are compared with")] = (
        "float network"
    )
    inputs: Annotated[int, about("how many")] = 0
    sqnr_db: Annotated[Decibels | None, about("of the worst output; null without any noise")] = None
    top1_agreement: Annotated[int | None, about("inputs with the winner of float")] = None
    top1_right: Annotated[int | None, about("inputs whose right class wins")] = None
    float_top1_right: Annotated[int | None, about("the same in float")] = None
    top1_margin_ratio: Annotated[
        float | None, about("what remains of the margins between winner and runner-up")
    ] = None
    outputs: Annotated[tuple[OutputAccuracy, ...], about("every output")] = ()


def worst_db(outputs: Iterable[OutputAccuracy]) -> float:
    """Return the least SQNR of the outputs in dB; NaN without any."""
    return min((as_db(output.sqnr_db) for output in outputs), default=math.nan)


def judged_db(sqnr_db: float | None, outputs: Sequence[OutputAccuracy]) -> float:
    """Return the SQNR in dB that decides whether outputs are an answer.

    It is `sqnr_db`, that of the worst, infinite without noise; negligible errors do not count.
    """
    if any(output.negligible for output in outputs):
        return min((as_db(o.sqnr_db) for o in outputs if not o.negligible), default=math.inf)
    return math.inf if sqnr_db is None or math.isnan(sqnr_db) else sqnr_db


def sqnr_text(outputs: Sequence[OutputAccuracy]) -> str:
    """Return the SQNR of the worst output in words, and whether it is too low."""
    if not outputs:
        return "none of them is compared"
    worst = worst_db(outputs)
    is_low = judged_db(worst, outputs) < LEAST_DB
    remark = f", under the {LEAST_DB:g} dB of an answer that can be used" if is_low else ""
    return f"{figure(worst)} dB{remark}"


def each_output(outputs: Sequence[OutputAccuracy]) -> str:
    """Return the SQNR of each output in words, the worst first.

    There are none for a single output that counts, and without any noise.
    """
    negligible = any(output.negligible for output in outputs)
    if (len(outputs) < 2 and not negligible) or worst_db(outputs) == math.inf:
        return ""
    ordered = sorted(outputs, key=lambda output: as_db(output.sqnr_db))
    words = [
        f"'{output.tensor}' {decibels(output.sqnr_db)}{' dB' if output.sqnr_db is not None else ''}"
        f"{' (does not count: a probability off by less than 1/255)' if output.negligible else ''}"
        for output in ordered[:SHOWN]
    ]
    more = [f"and {len(ordered) - SHOWN} more"] if len(ordered) > SHOWN else []
    return f"each output, the worst first: {', '.join([*words, *more])}"


def as_db(sqnr_db: float | None) -> float:
    """Return an SQNR of a document as a number: infinite without any noise."""
    return math.inf if sqnr_db is None else sqnr_db


def db_text(sqnr_db: float | None) -> str:
    """Return an SQNR of a document as text, with three digits."""
    return figure(as_db(sqnr_db))


def sqnr_label(reference: Reference) -> str:
    """Return the label of the SQNR of the outputs against `reference`."""
    if reference == "float network":
        return "SQNR of the outputs"
    return f"SQNR against {reference}"
