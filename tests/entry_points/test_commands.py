"""Every command answers as the API does: the same bytes, the same figures, the same picoseconds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

import hexsim
from hexsim import dlc
from hexsim.accuracy.agreement import agreement
from hexsim.accuracy.scores import class_scores, compared_floats, is_classifier
from hexsim.accuracy.validation import validate
from hexsim.deployment import Deployment
from hexsim.graph.batches import batch_size
from hexsim.inputs.seeded import EVALUATION_INPUTS, EVALUATION_SEED, seeded_calibration
from hexsim.onnx_io.float_engine import FloatEngine
from hexsim.results.accuracy import Accuracy
from hexsim.results.document import plain
from hexsim.studies.throughput import Caller, ClosedLoop, throughput
from hexsim.timing.picoseconds import PS_PER_US
from tests.cli.conftest import Done
from tests.entry_points.examples import DEAD_CHANNEL, SIZED_BY_VALUES, Example, examples
from tests.entry_points.places import PLACES, STACK, Place, deployment, feed, model
from tests.thorough import paired

LISTED = sorted(examples(), key=lambda example: example.rank == 4)
ONE_OF_EACH = list({example.of: example for example in LISTED}.values())
ONE_OF_EACH += [
    example
    for example in LISTED
    if example.name in (SIZED_BY_VALUES, DEAD_CHANNEL, "masked by -inf")
]
"""An example of each layer type, an image where there is one; what values size, a dead channel and
a mask."""

Command = Callable[[str], Done]


@pytest.fixture
def deployed(example: Example, place: Place, tmp_path: Path) -> Deployment:
    """The model in memory; its file and an input list lie in the folder of the commands."""
    loaded = model(example, place)
    dlc.write(tmp_path / "m.dlc", loaded)
    (tmp_path / "x.raw").write_bytes(feed(example)["x"].tobytes())
    (tmp_path / "list.txt").write_text("x.raw\n")
    return deployment(loaded, place)


@pytest.mark.parametrize(("example", "place"), paired(ONE_OF_EACH, PLACES, 1), ids=str)
def test_commands_agree(
    example: Example, place: Place, deployed: Deployment, command: Command, tmp_path: Path
) -> None:
    where = f"--chip {place.chip} --stack {STACK} --runtime {place.runtime}"
    x = feed(example)
    expected = deployed.executor(threads=1).run(x)["y"]

    assert command(f"run --chip sd835 m.dlc {where} --input-list list.txt -o out").code == 0
    written = np.fromfile(tmp_path / "out" / "Result_0" / "y.raw", np.float32)
    np.testing.assert_array_equal(written, expected.reshape(-1), "run")

    assert (
        command(f"validate --chip sd835 m.dlc {where} --input-list list.txt --json v.json").code
        == 0
    )
    sqnr_db = validate(_read(tmp_path, place), [x]).output_sqnr_db
    reported = _json(tmp_path / "v.json")["output_sqnr_db"]
    assert reported == (None if sqnr_db is None else pytest.approx(sqnr_db)), "validate"


@pytest.mark.parametrize(("example", "place"), paired(ONE_OF_EACH, PLACES, 1, 2), ids=str)
def test_times_agree(
    example: Example, place: Place, deployed: Deployment, command: Command, tmp_path: Path
) -> None:
    where = f"--chip {place.chip} --stack {STACK} --runtime {place.runtime}"
    expected_ps = deployed.simulate().total_ps
    file = tmp_path / "m.dlc"
    assert (
        hexsim.simulate(file, place.chip, place.runtime, stack=STACK).timing.total_ps == expected_ps
    )

    once = throughput(deployed.platform, [Caller(deployed.plan)], ClosedLoop(inferences=1))
    assert once.threads[0].latencies_us == (expected_ps / PS_PER_US,), "throughput of one"

    assert (
        command(f"bench --chip sd835 --model m.dlc {where} --json b.json --trace t.json").code == 0
    )
    (result,) = _json(tmp_path / "b.json")["results"]
    assert result["total_inference_us"] == expected_ps / PS_PER_US, "bench"
    assert command(f"profile --chip sd835 m.dlc {where} --json p.json").code == 0
    (profiled,) = _json(tmp_path / "p.json")["results"]
    assert profiled["total_inference_us"] == expected_ps / PS_PER_US, "profile"
    end_us = max(event["ts"] + event.get("dur", 0) for event in _events(tmp_path / "t.json"))
    assert end_us == pytest.approx(expected_ps / PS_PER_US, abs=1e-3), "trace"
    file_read = _read(tmp_path, place)
    reference = file_read.model.reference
    expected = plain(
        structs.replace(
            _agreement(file_read), compared_on="seeded inputs", sqnr_reference=reference
        )
    )
    assert result["accuracy"] == expected, "values of bench"


def _read(folder: Path, place: Place) -> Deployment:
    """The model of the file, whose float reference is made of the file's own constants."""
    return deployment(dlc.read(folder / "m.dlc").model, place)


def _agreement(deployed: Deployment) -> Accuracy:
    network = class_scores(deployed.network)
    feeds = seeded_calibration(deployed.network, EVALUATION_INPUTS, EVALUATION_SEED)
    engine, executor = FloatEngine(network), deployed.over(network).executor()
    classes = is_classifier(deployed.network)
    runs = [executor.run(x) for x in feeds]
    names, batch = compared_floats(deployed.network), batch_size(deployed.network)
    floats, items = [engine.run(x) for x in feeds], batch * len(runs)
    return agreement(floats, runs, classes=classes, names=names, batch=batch, items=items)


def _json(path: Path) -> Any:
    return json.loads(path.read_text())


def _events(path: Path) -> list[dict[str, Any]]:
    return [event for event in _json(path)["traceEvents"] if event["ph"] == "X"]
