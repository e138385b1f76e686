"""Every runtime has one rule for a float and one for a quantised file under every stack."""

import pytest

from hexsim.datasheets import stacks
from hexsim.planning.load_rules import RULES, load_rule
from hexsim.runtimes import RUNTIMES

FLOAT = ("cpu", "gpu", "gpu_fp16", "htp_fp16")


@pytest.mark.parametrize("name", stacks.names())
def test_who_loads_what(name: str) -> None:
    stack = stacks.load(name)
    for runtime in RUNTIMES:
        codes, floats = (load_rule(runtime, stack, quantized=q).effect for q in (True, False))
        assert codes == ("dequantise" if runtime in FLOAT else "native")
        if runtime != "dsp":
            assert floats == ("native" if runtime in FLOAT else "refuse")


def test_the_release_decides_about_floats_on_the_dsp() -> None:
    effects = {
        name: load_rule("dsp", stacks.load(name), quantized=False).effect
        for name in ("snpe-1.23", "snpe-1.30", "qnn-2.45")
    }
    assert effects == {"snpe-1.23": "quantise", "snpe-1.30": "quantise", "qnn-2.45": "refuse"}


def test_every_rule_has_a_sentence() -> None:
    assert all(len(rule.sentence.split()) > 4 for rule in RULES)
