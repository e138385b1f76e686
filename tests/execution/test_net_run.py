"""A net run writes for every line what the executor computes, and only there."""

from pathlib import Path

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.execution.net_run import run, wanted
from hexsim.inputs.source import InMemory, InputSource
from tests.accuracy import culprits
from tests.deployed import deployed


class Doubles:
    """Stands for an executor: y is twice x, z has no batch."""

    def run_each(self, feeds):
        for inputs in feeds:
            yield {"y": 2 * inputs["x"], "z": np.float32([1, 2, 3]), "deep/er/y": inputs["x"]}


def _source(batch, items, items_per_line):
    lines = -(-items // items_per_line)
    per_set = batch // items_per_line
    files = [f"{line}.raw" for line in range(lines)]
    sets = tuple(tuple(files[at : at + per_set]) for at in range(0, lines, per_set))
    values = np.arange(len(sets) * batch, dtype=np.float32).reshape(len(sets), batch, 1)
    feeds = [{"x": value} for value in values]
    return InputSource(InMemory(feeds), items, batch, "", files=sets, items_per_line=items_per_line)


def _read(path: Path) -> list[float]:
    return np.fromfile(path, "<f4").tolist()


def test_one_result_per_line(tmp_path: Path) -> None:
    reported: list[object] = []
    assert run(Doubles(), _source(1, 3, 1), tmp_path, ["y", "deep/er/y"], reported.append) == 3
    assert [_read(tmp_path / f"Result_{i}/y.raw") for i in range(3)] == [[0], [2], [4]]
    assert _read(tmp_path / "Result_2/deep/er/y.raw") == [2]
    assert reported == [("0.raw",), ("1.raw",), ("2.raw",)]
    assert len(list(tmp_path.rglob("*.raw"))) == 6


def test_the_lines_of_a_batch_are_apart_and_padding_is_left_out(tmp_path: Path) -> None:
    assert run(Doubles(), _source(2, 3, 1), tmp_path, ["y", "z"]) == 3
    assert [_read(tmp_path / f"Result_{i}/y.raw") for i in range(3)] == [[0], [2], [4]]
    assert _read(tmp_path / "Result_1/z.raw") == [1, 2, 3]
    assert not (tmp_path / "Result_3").exists()


def test_a_line_that_holds_a_batch_has_one_result(tmp_path: Path) -> None:
    assert run(Doubles(), _source(2, 4, 2), tmp_path, ["y"]) == 2
    assert [_read(tmp_path / f"Result_{i}/y.raw") for i in range(2)] == [[0, 2], [4, 6]]


@pytest.mark.parametrize("name", ["..", "a/../../y", "/", "a/./b"])
def test_no_file_is_written_outside(tmp_path: Path, name: str) -> None:
    with pytest.raises(HexsimError, match="cannot name a file of its own"):
        run(Doubles(), _source(1, 1, 1), tmp_path / "out", [name])
    assert not list(tmp_path.iterdir())


def test_two_tensors_never_share_a_file(tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match="tensor '/y' cannot name a file of its own"):
        run(Doubles(), _source(1, 1, 1), tmp_path, ["y", "/y"])


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("kept")
    with pytest.raises(HexsimError, match="cannot make folder"):
        run(Doubles(), _source(1, 1, 1), tmp_path / "out", ["y"])
    assert (tmp_path / "out").read_text() == "kept"


def test_what_is_wanted() -> None:
    network = culprits.network("outlier")
    first, last = network.layers[0], network.layers[-1]
    assert wanted(network, every=False) == network.outputs
    both = wanted(network, [last.name], [first.output, last.output], every=False)
    assert both == (last.output, first.output)
    every = wanted(network, every=True)
    assert every == tuple(name for layer in network.layers for name in layer.outputs)
    for names, kind in (({"layers": ["nope"]}, "layer"), ({"tensors": ["nope"]}, "tensor")):
        with pytest.raises(HexsimError, match=f"unknown {kind} 'nope'"):
            wanted(network, every=False, **names)


def test_observed_keeps_encodings() -> None:
    model = culprits.quantized("outlier")
    name = model.network.layers[0].output
    seen = deployed(model).observing((name,)).model
    assert seen.quantized
    assert seen.network.outputs == (name,)
    assert seen.activations == model.activations


def test_what_values_size_is_whole_in_every_result_of_a_batch(tmp_path: Path) -> None:
    lines: list[str] = []
    source = _source(2, 2, 1)
    run(Doubles(), source, tmp_path, ["y", "deep/er/y"], sized=["y"], reported=lines.append)
    assert [_read(tmp_path / f"Result_{i}/y.raw") for i in range(2)] == [[0, 2], [0, 2]]
    assert _read(tmp_path / "Result_1/deep/er/y.raw") == [1]
    assert lines == [f"{tmp_path}/Result_{i}/y.raw: 2x1" for i in range(2)]


def test_integers_that_a_file_has_only_nearly_are_reported(tmp_path: Path) -> None:
    """2**24 + 1 is the first whole number that float32 has not."""

    class Integers:
        def run_each(self, feeds):
            for inputs in feeds:
                yield {"y": inputs["x"].astype(np.int64) + 2**24}

    reported: list[str] = []
    run(Integers(), _source(1, 2, 1), tmp_path / "a", ["y"], reported=reported.append)
    assert [_read(tmp_path / f"a/Result_{i}/y.raw") for i in range(2)] == [[2**24]] * 2
    assert reported == [
        f"{tmp_path / 'a/Result_1/y.raw'}: 16777217 is written as 16777216, the nearest "
        "number that float32 has; snpe-net-run writes int64 numbers as native output files"
    ]
    reported.clear()
    run(
        Integers(),
        _source(1, 2, 1),
        tmp_path / "b",
        ["y"],
        reported=reported.append,
        types={"y": "<i8"},
    )
    last = np.fromfile(tmp_path / "b/Result_1/y.raw", "<i8")
    assert (last.tolist(), reported) == ([2**24 + 1], [])
