"""A cut that costs time is told by the times of both; values are told by who computes them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from hexsim.deployment import Deployment, deploy
from hexsim.deployment.findings import findings_of, slower, slower_sections
from hexsim.deployment.offline_hta import CompileOrder, NothingToCompile, with_hta
from hexsim.deployment.platform import Platform
from hexsim.graph.ir import Network
from hexsim.layers import LocalResponseNorm
from tests.accuracy import culprits
from tests.deployed import deployed
from tests.dlc.made import with_encodings
from tests.small_networks import Sketch, networks
from tests.thorough import examples

SD855, OLD = Platform.load("sd855"), Platform.load("sd855", "snpe-1.23")
ORDER = CompileOrder(SD855.chip, SD855.stack)


def _convolutions(size: int, channels: int, count: int) -> Network:
    sketch = Sketch((1, size, size, channels))
    last = "in"
    for _ in range(count):
        last = sketch.conv(last, channels, 3)
    return sketch.network(last)


@examples(40)
@given(networks())
def test_a_cut_is_told_where_and_only_where_it_costs_time(network: Network) -> None:
    try:
        model = with_hta(with_encodings(network), ORDER)
    except NothingToCompile:
        return
    cut = deploy(model, SD855, "aip")
    findings = list(slower_sections(cut))
    times = [each.simulate().total_us for each in (cut, cut.with_sections(()))]
    assert bool(findings) == (times[0] > times[1])
    assert slower(model, [ORDER]) == findings
    for finding in findings:
        assert finding.kind == "slower sections"
        assert finding.layer == model.hta[0].layers[0]
        assert finding.share == pytest.approx(1 - times[1] / times[0])


def test_a_small_network_is_slower_with_sections_and_a_large_one_is_not() -> None:
    small, large = (
        with_hta(with_encodings(_convolutions(*shape)), ORDER)
        for shape in ((8, 8, 1), (14, 512, 6))
    )
    (finding,) = slower_sections(deploy(small, SD855, "aip"))
    assert re.fullmatch(
        r"HTA section 1 makes aip of sd855 slower: an inference takes [\d.]+ ms, without [\d.]+ "
        r"ms; quantise without hexsim\.compile_hta, or with the sections of hexsim partition "
        r"search=True",
        finding.sentence,
    )
    assert not list(slower_sections(deploy(large, SD855, "aip")))
    assert not list(slower_sections(deploy(small, SD855, "dsp"))), "which has no sections"
    other = Platform.load("sd865", "snpe-1.63")
    assert not list(slower_sections(deploy(small, other, "aip"))), "nor has another chip"


def test_what_is_refused_has_no_times() -> None:
    """Two sections are not legal under the rules of 1.23."""
    sketch = Sketch((1, 8, 8, 8))
    first = sketch.conv("in", 8)
    norm = sketch.add(LocalResponseNorm, first, size=5, alpha=1e-4, beta=0.75, bias=1.0)
    last = sketch.conv(norm, 8)
    model = with_hta(with_encodings(sketch.network(last)), ORDER)
    assert len(model.hta) == 2
    assert list(slower_sections(deployed(model, "aip", "sd855")))
    assert list(slower_sections(Deployment(model, OLD, "aip"))) == []


@pytest.mark.parametrize("at_load", [False, True])
def test_a_float_model_is_quantised_for_its_losses_only_if_they_are_wanted(at_load: bool) -> None:
    deployment = deployed(culprits.network("dead"), "dsp", "sd855")
    findings = findings_of(deployment, at_load=at_load)
    assert ("loaded" in vars(deployment)) == at_load
    assert findings == (deployment.loaded.findings if at_load else ())


def test_float_runtimes_lose_nothing_by_encodings() -> None:
    model = culprits.quantized("outlier")
    assert deployed(model, "dsp").findings == model.findings
    assert deployed(model, "gpu").findings == ()
