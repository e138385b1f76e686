"""A public function that is called with something else says so in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import isfunction, unwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hexsim
from hexsim.texts.arguments import _declared

NET = "ds_cnn_s"
WRONG: tuple[Any, ...] = (
    *(None, True, 3, 2.5, float("nan"), b"abc", "", "abc", (), [NET], ("a", 1), {}, {"a": 1}),
    *(np.zeros(3), object()),
)
FIRST: dict[str, tuple[Any, ...]] = {
    "always_on": (NET, 100),
    "calibrate": (None, "sd845"),
    "compare": ("a.json", "b.json"),
    "compare_measured": (NET, "a.csv", "sd855"),
    "compile_hta": (NET, "sd855"),
    "decide_files": ([NET], "sd855"),
    "diff": (NET, NET),
    "kernel": ("conv",),
    "pictures": (".",),
    "prepare_graph": (NET, "sd855"),
    "read_overrides": ("a.json",),
    "run": (NET, []),
    "save": (NET, "a.dlc"),
    "simulate_llm": ("config.json",),
    "sweep": ({},),
    "use_layers": (),
}
"""The arguments of functions that need others than a network, which go no further than that."""
FUNCTIONS = [name for name in hexsim.__all__ if isfunction(getattr(hexsim, name))]


def called(name: str, arguments: Sequence[Any], given: Mapping[str, Any] = {}) -> None:
    with suppress(hexsim.HexsimError):
        answer = getattr(hexsim, name)(*arguments, **given)
        if name == "run":
            next(answer, None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_value_of_any_parameter_is_taken_or_refused_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = FIRST.get(name, (NET,))
    types, positions, gathered = _declared(unwrap(getattr(hexsim, name)))
    for at in range(len(first)):
        for value in WRONG:
            called(name, (*first[:at], value, *first[at + 1 :]))
    others = types.keys() - {*positions[: len(first)], gathered, "on_results", "scheduler"}
    for keyword in others - {"workers", "output"}:
        for value in WRONG:
            called(name, first, {keyword: value})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: hexsim.profile(3), "model is 3 (int); hexsim.profile takes Model, str or Path"),
        (lambda: hexsim.profile(NET, chip=None), "chip is None (NoneType); hexsim.profile takes"),
        (lambda: hexsim.profile(NET, vtcm_mb="4"), "vtcm_mb is '4' (str); hexsim.profile takes"),
        (lambda: hexsim.throughput([NET]), "models is ['ds_cnn_s'] (list); hexsim.throughput"),
        (lambda: hexsim.throughput(NET, instances=True), "instances is True (bool)"),
        (lambda: hexsim.throughput(models=NET), "takes its models one after the other, without a"),
        (lambda: hexsim.load(NET, input_dims={"a": "12"}), "input_dims is {'a': '12'} (dict)"),
        (lambda: hexsim.load(NET, output_names="prob"), "output_names is 'prob' (str); hexsim"),
        (lambda: hexsim.validate(NET, inputs=3), "inputs is 3 (int); hexsim.validate takes"),
        (lambda: hexsim.validate(NET, threads=65), "threads is a number from 0 to 64, not 65"),
        (lambda: hexsim.decide(NET, draws=-1), "draws is a number from 0 to 100000, not -1"),
        (lambda: hexsim.compile_hta(NET), "is in floats, and the tensor engine computes in codes"),
    ],
)  # fmt: skip
def test_the_sentence_names_the_parameter_and_what_it_takes(
    call: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(hexsim.HexsimError) as caught:
        call()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_numbers_arrays_and_nested_lists_are_what_they_are_declared_as() -> None:
    picture = np.zeros((1, 1, 49, 10), np.float32)
    same = [hexsim.profile(NET, vtcm_mb=number) for number in (2, np.int64(2), np.float32(2))]
    assert len({document.to_json() for document in same}) == 1
    assert hexsim.load("conv1x1_3to4", input_dims={"input": np.array([1, 3, 6, 8])})
    hexsim.simulate(NET, vtcm_mb=2, inputs=picture)
    (out,) = hexsim.run(NET, [picture.tolist()])
    (same,) = hexsim.run(NET, (picture,))
    assert all(np.array_equal(out[name], same[name]) for name in out)
