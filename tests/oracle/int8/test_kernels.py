"""Whole kernels: the integer ones and their references equal HVX code of our own, bit for bit."""

import numpy as np
import pytest

from hexsim.int8.dispatch import prepare
from tests.int8 import naive
from tests.int8.single_layer import execute
from tests.oracle.int8 import golden, qemu
from tests.oracle.int8.cases import CASES, drawn

KERNELS = sorted(CASES)


def computed(call, inputs):
    """Output codes of hexsim.int8."""
    output = np.full(call.output.shape, 77, np.uint8)
    execute(prepare(call), inputs, output)
    return output


@pytest.mark.parametrize("kernel", KERNELS)
def test_equals_committed_answers(kernel):
    cases = golden.golden_cases(kernel)
    with np.load(golden.path(kernel)) as answers:
        np.testing.assert_array_equal(
            golden.digest(cases), answers["cases"], "cases changed: run regenerate.py, look at why"
        )
        expected = answers["codes"]
    ours = np.concatenate([computed(*case).reshape(-1) for case in cases])
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.toolchain
@pytest.mark.parametrize("kernel", KERNELS)
def test_equals_hvx_code(kernel):
    cases = drawn(kernel)
    expected = [computed(*case) for case in cases]
    for (call, inputs), codes in zip(cases, expected, strict=True):
        np.testing.assert_array_equal(naive.run(call, inputs), codes)
    for version in qemu.VERSIONS:
        for number, codes in enumerate(golden.judged(cases, version)):
            message = f"case {number}, v{version}"
            np.testing.assert_array_equal(expected[number], codes, message)


@pytest.mark.toolchain
def test_committed_answers_are_what_qemu_says(tmp_path):
    golden.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"{k}.npz" for k in (*KERNELS, "tail")}
    for path in tmp_path.iterdir():
        with np.load(path) as new, np.load(golden.FOLDER / path.name) as committed:
            for name in new:
                np.testing.assert_array_equal(new[name], committed[name], f"{path.name} {name}")
