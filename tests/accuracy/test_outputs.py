"""The layers chosen run in integers and no others."""

import math

from hexsim.accuracy.outputs import OutputJudge, with_chosen
from tests.accuracy import culprits
from tests.deployed import deployed


def test_cuts_put_just_the_chosen_layers_on_the_runtime() -> None:
    model = culprits.quantized()
    subnets = with_chosen(deployed(model), model, {"c1", "c2", "fc"}).subnets
    found = [(subnet.runtime, [layer.name for layer in subnet.layers]) for subnet in subnets]
    assert found == [("cpu", ["c0"]), ("dsp", ["c1", "c2"]), ("cpu", ["c3"]), ("dsp", ["fc"])]


def test_without_integers_there_is_no_noise_and_with_more_there_is_more() -> None:
    model = culprits.quantized()
    judge = OutputJudge(deployed(model.network), culprits.inputs())
    assert judge.takes == {"c0", "c1", "c2", "c3", "fc"}
    none, one, all_ = (judge.sqnr_db(model, chosen) for chosen in (set(), {"c1"}, judge.takes))
    assert none == math.inf
    assert one > all_ > 10.0
