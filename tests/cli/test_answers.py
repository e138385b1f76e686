"""`hexsim run --labels`: the five likeliest classes of each input, by their names."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hexsim import dlc
from hexsim.dlc import Metadata
from hexsim.graph.ir import Constant
from hexsim.quantization.model import Model
from tests.cli.conftest import Done
from tests.small_networks import Sketch

Command = Callable[[str], Done]


def save(batch: int = 1, classes: int = 7) -> None:
    """net.dlc, 0.raw to 2.raw, list.txt and names.txt with 'class 0, thing' and so on."""
    net = Sketch((batch, 8, 8, 3))
    network = net.network(net.dense("in", classes))
    rng = np.random.default_rng(5)
    filled = {
        name: Constant(name, constant.shape, rng.normal(0, 1, constant.shape).astype(np.float32))
        for name, constant in network.constants.items()
    }
    network = replace(network, constants=filled)
    dlc.write("net.dlc", Model(network), Metadata())
    for index in range(3):
        rng.normal(0, 1, (8, 8, 3)).astype(np.float32).tofile(f"{index}.raw")
    Path("list.txt").write_text("0.raw\n1.raw\n2.raw\n")
    Path("names.txt").write_text("".join(f"class {n}, thing\n" for n in range(classes)) + "\n")


@pytest.mark.parametrize("batch", [1, 2])
def test_table_json_and_csv_tell_what_the_raw_files_hold(command: Command, batch: int) -> None:
    save(batch)
    line = "run --chip sd835 net.dlc --input-list list.txt --runtime cpu --labels names.txt"
    done = command(f"{line} --json a.json --csv a.csv")
    assert done.code == 0, done.err
    *table, last = done.out.split("Classification results\n")[1].splitlines()
    assert last.startswith("wrote 3 results into output, ")
    rows = list(csv.DictReader(Path("a.csv").read_text().splitlines()))
    answers = json.loads(Path("a.json").read_text())["answers"]
    assert (len(table), len(rows), len(answers)) == (15, 15, 3)
    for index, answer in enumerate(answers):
        (result,) = Path(f"output/Result_{index}").glob("*.raw")
        scores = np.fromfile(result, np.float32)
        best = np.argsort(-scores)[:5]
        assert answer["file"] == f"{index}.raw"
        assert [entry["class"] for entry in answer["top"]] == best.tolist()
        assert answer["top"][0]["name"] == f"class {best[0]}, thing"
        assert answer["top"][0]["score"] == scores[best[0]]
        first = f"{index}.raw {scores[best[0]]:f} {best[0]:>3} class {best[0]}, thing"
        assert table[5 * index] == first
        assert table[5 * index + 1].startswith(f"      {scores[best[1]]:f}")
        assert float(rows[5 * index + 4]["score"]) == pytest.approx(scores[best[4]])


def test_classes_without_names(command: Command) -> None:
    save(classes=3)
    done = command("run --chip sd835 net.dlc --input-list list.txt --runtime cpu --json a.json")
    assert done.code == 0
    top = json.loads(Path("a.json").read_text())["answers"][0]["top"]
    assert sorted(entry["class"] for entry in top) == [0, 1, 2]
    assert {entry["name"] for entry in top} == {None}


def test_mistakes(refused: Callable[[str], str]) -> None:
    save()
    line = "run --chip sd835 net.dlc --input-list list.txt --runtime cpu --labels"
    assert "cannot read class names 'none.txt': No such file" in refused(f"{line} none.txt")
    message = refused(f"{line} list.txt")
    assert "'list.txt' has 3 names for the 7 classes of output" in message
    assert "give one name per line" in refused(f"{line} 0.raw")
