"""Preparing a graph of a tensor processor, and its VTCM: every entry point says the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

import hexsim
from hexsim import dlc
from hexsim.reports.inference import prepared_lines
from tests.accuracy import culprits
from tests.cli.conftest import Done

CHIP = "sd8gen3"


def test_every_entry_point_says_the_same(command: Callable[[str], Done], tmp_path: Path) -> None:
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    dlc.write(tmp_path / "m.dlc", hexsim.Model(culprits.network("outlier")))
    prepared = hexsim.simulate(str(tmp_path / "q.dlc"), CHIP, "htp").prepared
    assert prepared is not None
    info = command(f"info q.dlc --memory htp --chip {CHIP} --json i.json")
    assert (info.code, prepared_lines(prepared) in info.out) == (0, True)
    described = json.loads((tmp_path / "i.json").read_text())["prepared"]
    assert described == {name: structs.asdict(figure) for name, figure in vars(prepared).items()}
    quantized = command(f"quantize m.dlc -o new.dlc --seeded-inputs --chip {CHIP}")
    prepared = hexsim.simulate(str(tmp_path / "new.dlc"), CHIP, "htp").prepared
    assert prepared is not None
    assert f"prepared for htp of {CHIP}:\n{prepared_lines(prepared)}" in quantized.out
    assert "context binary" not in command("quantize m.dlc -o o.dlc --seeded-inputs").out
    bench = command(f"bench q.dlc --runtime htp --chip {CHIP} --timing-only")
    assert "of its process" in bench.out


def test_a_file_remembers_its_graph(command: Callable[[str], Done], tmp_path: Path) -> None:
    """On the chip of the record initialisation loads the binary, by every entry; elsewhere not."""
    model = culprits.quantized("outlier")
    dlc.write(tmp_path / "m.dlc", hexsim.Model(culprits.network("outlier")))
    plain = hexsim.simulate(model, CHIP, "htp")
    ready = hexsim.prepare_graph(model, CHIP)
    (graph,) = ready.graphs
    hexsim.save(ready, tmp_path / "r.dlc")
    assert hexsim.load(tmp_path / "r.dlc").graphs == (graph,)
    assert hexsim.prepare_graph(ready, CHIP).graphs == (graph,)
    for known in (ready, str(tmp_path / "r.dlc")):
        short = hexsim.simulate(known, CHIP, "htp")
        assert short.total_us == plain.total_us
        assert short.prepared == plain.prepared
        assert short.prepared is not None
        assert short.timing.init_ps / 1e12 == pytest.approx(short.prepared.load_s.value, rel=1e-4)
        assert short.timing.init_ps < plain.timing.init_ps
    with pytest.warns(UserWarning, match="initialisation prepares the graph"):
        other = hexsim.simulate(ready, CHIP, "htp", vtcm_mb=2)
    assert other.timing.init_ps == hexsim.simulate(model, CHIP, "htp", vtcm_mb=2).timing.init_ps
    line = "bench r.dlc --runtime htp --timing-only --json b.json --chip"
    assert (
        f"loads the graph that is prepared in the file ({graph})" in command(f"{line} {CHIP}").out
    )
    (case,) = json.loads((tmp_path / "b.json").read_text())["results"]
    assert case["initialisation_total_us"] == short.timing.init_ps / 1e6
    assert f"the file has graphs for {graph}, not for" in command(f"{line} sd8gen2").out
    info = command("info r.dlc --json i.json").out
    assert f"prepared for {graph}: context binary of " in info
    assert json.loads((tmp_path / "i.json").read_text())["graphs"] == [vars(graph)]
    assert command(f"quantize m.dlc --seeded-inputs --chip {CHIP} -o q.dlc").code == 0
    assert [str(each) for each in hexsim.load(tmp_path / "q.dlc").graphs] == [str(graph)]
    assert "prepared graphs" in command("diff m.dlc r.dlc").out
    with pytest.raises(hexsim.HexsimError, match="sd835"):
        hexsim.prepare_graph(model, "sd835")


def test_a_part_of_vtcm(command: Callable[[str], Done], tmp_path: Path) -> None:
    model = hexsim.load("mobilenet_v2_2_0")
    part, whole = (
        hexsim.simulate(model, CHIP, "htp_fp16", vtcm_mb=size).total_us for size in (0.25, None)
    )
    assert part > whole
    line = f"bench mobilenet_v2_2_0 --runtime htp_fp16 --chip {CHIP} --timing-only --json d.json"
    done = command(f"{line} --vtcm 0.25")
    assert (done.code, "qnn-2.43 with 0.25 MB of VTCM, burst" in done.out) == (0, True)
    (case,) = json.loads((tmp_path / "d.json").read_text())["results"]
    assert (case["total_inference_us"], case["vtcm_mb"]) == (part, 0.25)


def test_graphs_side_by_side(command: Callable[[str], Done], tmp_path: Path) -> None:
    dlc.write(tmp_path / "q.dlc", culprits.quantized("outlier"))
    line = f"throughput q.dlc q.dlc --runtime htp --chip {CHIP} --parallel-graphs 2 --json t.json"
    done = command(line)
    assert "qnn-2.43 with 4 MB of VTCM and 2 graphs at a time, burst" in done.out
    facts = json.loads((tmp_path / "t.json").read_text())
    assert (facts["vtcm_mb"], facts["graphs"]) == (4, 2)
    refused = command(f"{line} --vtcm 5")
    assert (refused.code, "5 MB of VTCM for each of 2 graphs" in refused.err) == (2, True)
