"""Values of a tiny decoder with a cache: those of onnxruntime in floats, and near them in w4a16."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest

import hexsim
from hexsim.accuracy.output_errors import Distance
from tests.conftest import run_onnx
from tests.llm.tiny_decoder import Export, tiny_decoder

PROMPT = np.array([[7, 150, 3, 92, 61, 18]])
STEPS = 2
Arrays = dict[str, np.ndarray]


def _passes(export: Export) -> Iterator[tuple[hexsim.Model, Arrays, Arrays]]:
    """Yield the prompt, then each step of decoding: our model, its inputs, and what is right."""
    ids, past = PROMPT, None
    cache: Arrays = {}
    for _ in range(1 + STEPS):
        model = tiny_decoder(_of(export, ids.shape[1], past))
        inputs = {"input_ids": ids, **cache}
        expected = run_onnx(model, inputs)
        yield hexsim.load(model), inputs, expected
        cache = {
            name.replace("present", "past"): array
            for name, array in expected.items()
            if name != "logits"
        }
        ids = expected["logits"][:, -1:].argmax(axis=2)
        past = next(iter(cache.values())).shape[2]


def _of(export: Export, tokens: int, past: int | None) -> Export:
    return Export(
        export.bits, export.packed, export.rotary_inside, tokens=tokens, past=past, bias=True
    )


@pytest.mark.parametrize(
    "export", [Export(), Export(packed=True, rotary_inside=True), Export(bits=None)]
)
def test_floats_are_those_of_onnxruntime(export: Export) -> None:
    for model, inputs, expected in _passes(export):
        (outputs,) = hexsim.run(model, [inputs], "sd8gen4", "cpu")
        for name, array in expected.items():
            np.testing.assert_allclose(outputs[name], array, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "least_db"), [(4, 13), (8, 38)])
def test_codes_are_near_them(bits: Literal[4, 8], least_db: float) -> None:
    """Codes of weights per column beside 16 bits: 4 bits more are some 24 dB less of noise."""
    options = hexsim.QuantizationOptions(activation_bits=16, weight_bits=bits, axis_weights=True)
    for model, inputs, expected in _passes(Export(bits=None)):
        quantized = hexsim.quantize(model, [inputs], options)
        (outputs,) = hexsim.run(quantized, [inputs], "sd8gen4", "htp")
        assert Distance.between(expected["logits"], outputs["logits"]).sqnr_db > least_db
