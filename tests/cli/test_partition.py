"""`hexsim partition` prints subnets, cuts and the fastest cut, and writes JSON and SVG."""

import json
from collections.abc import Callable
from pathlib import Path

Command = Callable[[str], tuple[int, str, str]]


def test_tables_json_and_drawing(command: Command, tmp_path: Path) -> None:
    line = "partition alexnet --chip sd855 --runtime aip --search --json p.json --graph p.svg"
    code, out, err = command(line)
    assert (code, err) == (0, "")
    assert "cmrn 'norm1'" in out
    assert "HTA coverage: 86% of the layers, 100% of the MACs" in out
    assert "Costliest refused layer: cmrn" in out
    assert "The fastest cut gains" in out
    document = json.loads((tmp_path / "p.json").read_text())
    assert [piece["engine"] for piece in document["pieces"]] == ["hta", "hvx"] * 2 + ["hta"]
    assert document["search"]["default"] == "1,3-4,6-14"
    assert document["search"]["best_us"] <= document["search"]["default_us"]
    assert (tmp_path / "p.svg").read_text().startswith("<svg")


def test_stack_and_listed_sections(command: Command) -> None:
    _, out, _ = command("partition alexnet --chip sd855 --runtime aip --stack snpe-1.23")
    assert "(rules 1.23)" in out
    assert len([line for line in out.splitlines() if " hta " in line]) == 1
    _, out, _ = command("partition --chip sd855 alexnet --hta-partitions 7-8")
    assert "HTA sections: as listed" in out
    assert "a section is listed" in out


def test_mistakes(refused: Callable[[str], str]) -> None:
    assert "are for aip" in refused("partition --chip sd855 alexnet --runtime dsp --search")
    assert "are for aip" in refused("partition alexnet --runtime htp --chip sd888 --search")
    assert "has no aip runtime" in refused("partition alexnet --chip sd835 --runtime aip")
    assert "'norm1' (id 2)" in refused("partition --chip sd855 alexnet --hta-partitions 1-3")
    assert "the nearest legal section is 1" in refused(
        "partition --chip sd855 alexnet --stack snpe-1.23 --hta-partitions 3-4"
    )


def test_a_tensor_processor(command: Command, arc: Path) -> None:
    """An Asin runs in codes, but not in float16."""
    line = f"partition {arc} --chip sd888 --runtime"
    code, out, _ = command(f"{line} htp_fp16")
    assert code == 0
    assert [row.split()[1] for row in out.splitlines() if row.lstrip()[:1].isdigit()] == [
        "htp",
        "cpu",
    ]
    assert (
        "Asin 'y' runs on the CPU: Asin in float16 is not taken by V68, no architecture is known"
    ) in out
