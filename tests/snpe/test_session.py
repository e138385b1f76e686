"""A session by SNPE's names does what hexsim does, in stored order."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import hexsim
from hexsim.datasheets.stacks import PROFILES
from hexsim.errors import HexsimError
from hexsim.quantization.model import Model
from hexsim.runtimes import RUNTIMES
from hexsim.snpe import (
    PerformanceProfile,
    ProfilingLevel,
    Runtime,
    Session,
    is_runtime_available,
)
from hexsim.snpe.diag_log import LEVELS, read_diag_log
from tests.accuracy import culprits


@pytest.fixture(scope="module")
def model() -> Model:
    return culprits.quantized("outlier")


def feed() -> np.ndarray:
    (inputs,) = culprits.inputs(1)
    return inputs["in"]


def test_the_names_are_those_of_hexsim() -> None:
    without_a_name = {"htp", "htp_fp16"}
    assert {runtime.ours for runtime in Runtime} == set(RUNTIMES) - without_a_name
    assert [level.value for level in ProfilingLevel] == list(LEVELS)
    assert {profile.value for profile in PerformanceProfile} >= set(PROFILES)
    assert Runtime.DSP is Runtime.DSP_FIXED8_TF


@pytest.mark.parametrize("runtime", [Runtime.CPU, Runtime.DSP, Runtime.AIP_FIXED8_TF])
def test_a_session_of_a_container(model: Model, runtime: Runtime, tmp_path: Path) -> None:
    hexsim.save(model, tmp_path / "m.dlc")
    profile = PerformanceProfile.BURST
    session = Session(tmp_path / "m.dlc", runtime, chip="sd855", performance_profile=profile)
    tensors = model.network.tensors
    source = tensors["in"].to_source(feed())
    done = hexsim.simulate(model, "sd855", runtime.ours, source, perf_profile="burst")
    assert done.outputs is not None
    assert session.output_names == tuple(done.outputs)
    for given in (feed(), feed().reshape(-1)):
        outputs = session.execute({"in": given})
        for name, array in done.outputs.items():
            np.testing.assert_array_equal(tensors[name].to_source(outputs[name]), array)
            assert session.dimensions(name) == outputs[name].shape
    assert session.timing.total_ps == done.timing.total_ps
    assert session.timing is session.timing


def test_other_tensors_may_be_asked_for(model: Model) -> None:
    inner = model.network.layers[0].outputs[0]
    session = Session(model, Runtime.DSP, output_tensors=[inner])
    assert list(session.execute({"in": feed()})) == [inner]
    with pytest.raises(HexsimError, match="unknown tensor 'nothing'"):
        Session(model, output_tensors=["nothing"])


def test_the_log_has_what_the_level_says(model: Model, tmp_path: Path) -> None:
    rows = {}
    for level in (ProfilingLevel.BASIC, ProfilingLevel.MODERATE, ProfilingLevel.DETAILED):
        session = Session(model, Runtime.DSP, profiling_level=level)
        session.execute({"in": feed()})
        session.write_log(tmp_path / "log")
        head, events = read_diag_log(tmp_path / "log")
        assert head["inferences"] == 1
        rows[level] = len(events)
    assert all(less < more for less, more in itertools.pairwise(rows.values()))
    with pytest.raises(HexsimError, match="profiling level OFF has no log"):
        Session(model).write_log(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_is_wrong_is_a_sentence(model: Model) -> None:
    session = Session(model)
    with pytest.raises(HexsimError, match="unknown input 'data'"):
        session.execute({"data": feed()})
    with pytest.raises(HexsimError, match="input 'in' is missing; give all of in"):
        session.execute({})
    with pytest.raises(HexsimError, match=r"input 'in' has the shape \[2\]; expected"):
        session.execute({"in": [1.0, 2.0]})
    with pytest.raises(HexsimError, match="unknown input or output 'data'"):
        session.dimensions("data")
    with pytest.raises(HexsimError, match="aip"):
        Session(model, Runtime.AIP_FIXED8_TF, chip="sd835")


def test_runtimes_of_a_chip() -> None:
    assert is_runtime_available(Runtime.AIP_FIXED_TF, "sd855")
    assert not is_runtime_available(Runtime.AIP_FIXED_TF, "sd835")
