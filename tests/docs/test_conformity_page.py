"""ONNX's own tests: none fails that is not known to, and the page says what came out."""

import onnx
import onnxruntime
import pytest
from onnx.backend.test.loader import load_model_tests

from benchmarks.conformity import PAGE, cases, judge, tables
from benchmarks.pages import with_block

SAMPLE = {
    "test_abs": ("passed", "passed"),
    "test_averagepool_2d_pads": ("passed", "passed"),
    "test_basic_conv_with_padding": ("passed", "passed"),
    "test_convinteger_without_padding": ("opaque", "refused"),
    "test_depthtospace_example": ("passed", "passed"),
    "test_dropout_default": ("passed", "passed"),
    "test_elu": ("passed", "passed"),
    "test_matmulinteger": ("opaque", "refused"),
    "test_nonzero_example": ("opaque", "refused"),
    "test_qlinearconv": ("passed", "passed"),
    "test_qlinearmatmul_2D_uint8_float32": ("passed", "passed"),
    "test_quantizelinear": ("passed", "passed"),
    "test_reduce_sum_keepdims_random": ("passed", "passed"),
    "test_softmax_axis_1": ("passed", "passed"),
    "test_training_dropout": ("refused", "refused"),
}
"""Tests of ONNX's with what becomes of them on the CPU and on the DSP."""


@pytest.mark.slow
def test_a_sample_of_the_node_tests() -> None:
    if load_model_tests(kind="node")[0].model is None:
        pytest.skip("this onnx keeps its node tests in files (1.17 does)")
    sample = [case for case in cases("test_", kinds=("node",)) if case.name in SAMPLE]
    effects = {c.name: (judge(c, "CPU").effect, judge(c, "DSP").effect) for c in sample}
    assert effects == SAMPLE


@pytest.mark.slow
def test_none_fails_and_the_page_is_that_of_today() -> None:
    outcomes = [judge(case, device) for case in cases() for device in ("CPU", "DSP")]
    assert not [outcome.case for outcome in outcomes if outcome.effect == "failed"]
    written = PAGE.read_text(encoding="utf-8")
    versions = f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}"
    if versions not in written:
        pytest.skip(f"the page was not written with {versions}")
    expected = written
    for name, block in tables(outcomes).items():
        expected = with_block(expected, name, block)
    assert written == expected, "python -m benchmarks.conformity --write"
