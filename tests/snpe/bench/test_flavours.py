"""Which buffers each runtime has, and what folders, columns and command lines call them."""

import pytest

from hexsim.errors import HexsimError
from hexsim.snpe.bench.flavours import flavours


def names(runtimes: list[str], buffers: list[str] | None = None) -> list[str]:
    return [flavour.name for flavour in flavours(runtimes, buffers)]


def test_without_buffers_there_are_all_that_are_legal() -> None:
    assert names(["CPU", "gpu"]) == ["CPU", "CPU_ub_float", "GPU", "GPU_ub_float"]
    assert names(["AIP"]) == ["AIP", "AIP_ub_float", "AIP_ub_tf8"]
    assert names(["DSP_ACT16"]) == ["DSP_ACT16", "DSP_ACT16_ub_float", "DSP_ACT16_ub_tf16"]


def test_with_buffers_there_are_those_that_are_legal() -> None:
    assert names(["CPU", "DSP"], ["", "ub_tf8"]) == ["CPU", "DSP", "DSP_ub_tf8"]
    assert names(["CPU", "DSP"], ["ub_auto"]) == ["DSP_ub_auto"]


def test_flags() -> None:
    flags = {
        flavour.name: flavour.flags(float_outputs=True)
        for flavour in flavours(["GPU_FP16", "DSP"], None)
    }
    assert flags == {
        "GPU_FP16": "--use_gpu --gpu_mode float16",
        "GPU_FP16_ub_float": "--use_gpu --gpu_mode float16 --userbuffer_float",
        "DSP": "--use_dsp",
        "DSP_ub_float": "--use_dsp --userbuffer_float",
        "DSP_ub_tf8": "--use_dsp --userbuffer_tf8 --userbuffer_float_output",
    }


@pytest.mark.parametrize(
    ("runtimes", "sentence"),
    [
        (["GPU_s"], "runtime GPU_S: the small library"),
        (["NPU"], "unknown runtime 'NPU'"),
    ],
)
def test_refusals(runtimes: list[str], sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        flavours(runtimes, None)
