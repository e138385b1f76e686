"""llvm-mc accepts every packet of the loops for 16-bit activations."""

import pytest

from hexsim.hvx.listing import loop_asm, straight_asm
from hexsim.hvx.modulo import Loop
from tests.hvx.kernels.test_model import KERNELS
from tests.oracle.toolchain import refused


@pytest.mark.toolchain
def test_llvm_mc_accepts_every_packet() -> None:
    texts = [
        text
        for kernel in KERNELS
        for stretch in (*kernel.tile, *kernel.row, *kernel.call)
        for text in (
            loop_asm(stretch.code) if isinstance(stretch.code, Loop) else straight_asm(stretch.code)
        )
    ]
    assert texts
    assert refused(texts, 66) == {}
