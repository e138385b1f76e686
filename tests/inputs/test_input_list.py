"""Input lists: the whole grammar, and a sentence with list, line and file for every mistake."""

from pathlib import Path

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.graph.ir import Network, Tensor
from hexsim.graph.network_ends import InputFormat
from hexsim.inputs.input_list import read_input_list
from hexsim.layers import Elementwise, Neuron


def _network() -> Network:
    return Network(
        "two",
        (
            Elementwise(name="add", inputs=("a", "b"), outputs=("s",), kind="sum"),
            Neuron(name="act", inputs=("s",), outputs=("y",), function="tanh"),
        ),
        {
            "a": Tensor("a", (1, 2, 2, 3), (0, 2, 3, 1)),
            "b": Tensor("b", (1, 2, 2, 3), (0, 2, 3, 1)),
            "s": Tensor("s", (1, 2, 2, 3), (0, 2, 3, 1)),
            "y": Tensor("y", (1, 2, 2, 3), (0, 2, 3, 1)),
        },
        {},
        ("a", "b"),
        ("y",),
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for index in range(4):
        (np.arange(12, dtype="<f4") + 100 * index).tofile(tmp_path / f"{index}.raw")
    (tmp_path / "short.raw").write_bytes(b"\0" * 44)
    return tmp_path


def _first_values(path: Path, text: str) -> list[tuple[float, ...]]:
    path.write_text(text)
    network = _network()
    sets = read_input_list(path, network).arrays(network)
    return [tuple(float(feed[name].ravel()[0]) for name in ("a", "b")) for feed in sets]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.raw 1.raw\n2.raw 3.raw", [(0, 100), (200, 300)]),
        ("b:=0.raw a:=1.raw\n", [(100, 0)]),
        ("\n  \n0.raw\t1.raw\r\n\n", [(0, 100)]),
        ("#add act\n%s y\n0.raw 0.raw\n", [(0, 0)]),
        ("%s\n0.raw 0.raw\n", [(0, 0)]),
    ],
)
def test_grammar(folder: Path, text: str, expected: list[tuple[float, float]]) -> None:
    assert _first_values(folder / "list.txt", text) == expected


def test_output_lines_are_kept(folder: Path) -> None:
    (folder / "list.txt").write_text("# add act\n%y\n0.raw 1.raw\n")
    read = read_input_list(folder / "list.txt", _network())
    assert (read.output_layers, read.output_tensors) == (("add", "act"), ("y",))
    assert [(line.number, line.files["b"].name) for line in read.lines] == [(3, "1.raw")]


def test_values_are_little_endian_in_stored_order(folder: Path) -> None:
    (folder / "list.txt").write_text("0.raw 1.raw")
    network = _network()
    (arrays,) = read_input_list(folder / "list.txt", network).arrays(network)
    assert arrays["a"].dtype == np.float32
    np.testing.assert_array_equal(arrays["a"], np.arange(12.0).reshape(1, 2, 2, 3))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"'list.txt' names no input"),
        ("#add\n", r"names no input"),
        ("0.raw\n", r"line 1: 1 files do not match the inputs .* a, b"),
        ("0.raw 1.raw 2.raw\n", r"line 1: 3 files do not match"),
        ("a:=0.raw 1.raw\n", r"line 1: 2 files do not match"),
        ("a:=0.raw a:=1.raw\n", r"line 1: 2 files do not match"),
        ("a:=0.raw c:=1.raw\n", r"line 1: unknown input 'c'; known: a, b"),
        ("0.raw 1.raw\n0.raw none.raw\n", r"line 2: cannot read 'none.raw': No such file"),
        ("0.raw 1.raw\nfolder 1.raw\n", r"line 2: 'folder' is a folder; name the raw files in it"),
        (
            "0.raw short.raw\n",
            r"'short.raw' has inappropriate number of bytes \(44\) for non-NV21 input 'b' for "
            r"batch 1 and size \{1, 2, 2, 3\}. Expected bytes 48: write float32",
        ),
        ("#ad\n", r"line 1: unknown layer 'ad'; did you mean add"),
        ("%z\n", r"line 1: unknown tensor 'z'"),
        ("%y\n#add\n", r"line 2: lines with # and %"),
        ("#add\n#act\n", r"line 2: lines with # and %"),
        ("0.raw 1.raw\n#add\n", r"line 2: lines with # and %"),
    ],
)
def test_mistakes(folder: Path, text: str, sentence: str) -> None:
    Path("list.txt").write_text(text)
    Path("folder").mkdir()
    with pytest.raises(HexsimError, match=sentence):
        read_input_list(Path("list.txt"), _network())


def test_a_file_that_vanishes_or_changes_later_is_named(folder: Path) -> None:
    (folder / "list.txt").write_text("0.raw 1.raw\n2.raw 3.raw\n")
    network = _network()
    sets = read_input_list(folder / "list.txt", network).arrays(network)
    (folder / "2.raw").write_bytes(b"123")
    (folder / "3.raw").unlink()
    next(sets)
    with pytest.raises(HexsimError, match=r"line 2: cannot read '2.raw'"):
        next(sets)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_unusable_values_are_named(folder: Path, value: float, word: str) -> None:
    bad = np.full(12, value, np.float32)
    bad.tofile(folder / "bad.raw")
    (folder / "list.txt").write_text("0.raw bad.raw")
    network = _network()
    with pytest.raises(HexsimError, match=f"line 1: 'bad.raw' for input 'b' holds {word}"):
        list(read_input_list(folder / "list.txt", network).arrays(network))


def test_binary_and_missing_lists(folder: Path) -> None:
    (folder / "bin").write_bytes(b"\xff\xfe\0\0")
    with pytest.raises(HexsimError, match="is no text"):
        read_input_list(folder / "bin", _network())
    with pytest.raises(HexsimError, match=r"cannot read input list .*No such file"):
        read_input_list(folder / "none.txt", _network())


def _batched(*files: str, count: int = 3) -> tuple[list[np.ndarray], int]:
    shape = (count, 1, 1, 2)
    layer = Neuron(name="act", inputs=("a",), outputs=("y",), function="tanh")
    tensors = {name: Tensor(name, shape, (0, 2, 3, 1)) for name in "ay"}
    network = Network("batched", (layer,), tensors, {}, ("a",), ("y",))
    Path("list.txt").write_text("\n".join(files))
    read = read_input_list(Path("list.txt"), network)
    return [array["a"].reshape(count, 2)[:, 0] for array in read.arrays(network)], read.items


@pytest.fixture
def items(folder: Path) -> None:
    """Items i0 to i4 of two numbers; w0 and w1 are files of three items."""
    for index in range(5):
        np.full(2, index + 1, "<f4").tofile(folder / f"i{index}.raw")
    for index in range(2):
        np.repeat(np.arange(3, dtype="<f4") + 10 * index, 2).tofile(folder / f"w{index}.raw")


@pytest.mark.usefixtures("items")
def test_lines_of_single_items_make_batches_and_the_last_is_filled_up() -> None:
    batches, count = _batched("i0.raw", "i1.raw", "i2.raw", "i3.raw", "i4.raw")
    assert count == 5
    assert [batch.tolist() for batch in batches] == [[1, 2, 3], [4, 5, 5]]


@pytest.mark.usefixtures("items")
def test_a_file_may_hold_a_whole_batch() -> None:
    batches, count = _batched("w0.raw", "w1.raw")
    assert count == 6
    assert [batch.tolist() for batch in batches] == [[0, 1, 2], [10, 11, 12]]


@pytest.mark.usefixtures("items")
@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (("i0.raw", "w0.raw"), r"line 2: .*\(24\) .* for batch 1 .*\{1, 1, 1, 2\}. .* bytes 8:"),
        (("w0.raw", "i0.raw"), r"line 2: .*\(8\) .* batch 3 .* bytes 24 \(or one item each, 8"),
        (("0.raw",), r"line 1: .*\(48\) .* for batch 3 and size \{3, 1, 1, 2\}"),
    ],
)
def test_lines_hold_all_one_item_or_all_a_batch(files: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(HexsimError, match=sentence):
        _batched(*files)


def _picture(form: InputFormat, shape: tuple[int, ...]) -> Network:
    layer = Neuron(name="act", inputs=("a",), outputs=("y",), function="tanh")
    tensors = {name: Tensor(name, shape) for name in "ay"}
    return Network("picture", (layer,), tensors, {}, ("a",), ("y",), {"a": form})


def test_nv21_files_hold_bytes(folder: Path) -> None:
    (folder / "p.raw").write_bytes(bytes(range(6)))
    (folder / "list.txt").write_text("p.raw")
    network = _picture(InputFormat("image", "nv21"), (1, 3, 2, 1))
    (arrays,) = read_input_list(folder / "list.txt", network).arrays(network)
    assert arrays["a"].dtype == np.float32
    assert arrays["a"].ravel().tolist() == list(range(6))
    (folder / "list.txt").write_text("0.raw")
    with pytest.raises(HexsimError, match=r"\(48\) for NV21 input .* Expected bytes 6: write the"):
        read_input_list(folder / "list.txt", network)


@pytest.mark.parametrize("value", [-1, 256, 0.5])
def test_an_image_holds_bytes_as_floats(folder: Path, value: float) -> None:
    np.array([3, value], "<f4").tofile(folder / "p.raw")
    (folder / "list.txt").write_text("p.raw")
    network = _picture(InputFormat("image"), (1, 2))
    read = read_input_list(folder / "list.txt", network)
    with pytest.raises(HexsimError, match=rf"line 1: 'p.raw' .* holds {value:g}, but an input of"):
        list(read.arrays(network))


def test_64_bit_integers_of_a_batch_have_64_bits(folder: Path) -> None:
    """16 bytes are one item of two, not two items of 32 bits."""
    tensors = {name: Tensor(name, (2, 2), dtype="int64") for name in "ay"}
    layer = Neuron(name="act", inputs=("a",), outputs=("y",), function="tanh")
    network = Network("batched", (layer,), tensors, {}, ("a",), ("y",))
    for index in range(2):
        np.full(2, index - 1, "<i8").tofile(folder / f"i{index}.raw")
    np.array([-1, -1, 0, 0], "<i8").tofile(folder / "w.raw")
    (folder / "items.txt").write_text("i0.raw\ni1.raw\n")
    (folder / "batch.txt").write_text("w.raw\n")
    for name in ("items.txt", "batch.txt"):
        (feed,) = read_input_list(folder / name, network, {"a": "<i8"}).arrays(network)
        assert feed["a"].tolist() == [[-1, -1], [0, 0]]
