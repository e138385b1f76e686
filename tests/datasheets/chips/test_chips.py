"""What follows from an architecture version."""

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hexsim.datasheets import chips, stacks
from hexsim.datasheets.chips import Arch, Chip, SignedKernels, version
from hexsim.datasheets.texts import CHIPS
from hexsim.errors import HexsimError
from hexsim.runtimes import RUNTIMES


@pytest.mark.parametrize(("arch", "number"), [("v60", 60), ("v62", 62), ("v65", 65), ("v66", 66)])
def test_versions(arch: Arch, number: int) -> None:
    assert version(arch) == number


FULL = tuple(name for name in chips.names() if chips.load(name).dsp_table is not None)
FITTED = (
    *("qcm6690", "qcs8275", "qcs9075", "sa8295p", "sa8775p", "sd7gen4", "sd8elitegen5"),
    *("sd8gen4", "sdx2elite", "sdxelite"),
    *("sd7gen1", "sd7plusgen2", "sd7gen3", "sd8plusgen1", "sd8sgen3"),
)
"""Chips of which one or two networks are measured, which give their pace."""
PUBLIC = ("sa8255p", "sd888", "sd8cxgen3", "sd8gen2", "sd7sgen3")
"""Chips that follow from public constants."""
HTP = (*("qcm6490", "qcs8550", "sd8gen1", "sd8gen3"), *FITTED, *PUBLIC)
HEXAGON = (
    *("sd820", "sd821", "sd835", "sd660", "sd710", "qcs605", "sd845", "sd855", "sd865"),
    *("sd765", "sd750g", "sd690", "qrb5165", "qcs7230", "sd695", "sd680", "sd480", "sd460"),
    *("sd662", "qcs610", "qcs410", "qcm4290", "qcm6125"),
)
"""The chips to which the guide gives a DSP of V60 to V66."""
MACS_PER_VECTOR_PACKET = {"v60": 256, "v62": 256, "v65": 512, "v66": 512}


def swept(chip: Chip) -> Iterator[tuple[str, float]]:
    for path, quantity in chip.quantities():
        if quantity.low is not None and quantity.high is not None:
            yield path, quantity.low
            yield path, quantity.high


@pytest.mark.parametrize("name", chips.names())
def test_every_shipped_chip_is_valid(name: str) -> None:
    chip = chips.load(name)
    assert chip.name == name
    assert chip.default_stack in stacks.names()
    assert chip.runtimes
    assert set(chip.runtimes) & set(stacks.load(chip.default_stack).runtimes)


def test_no_chip_is_both_listed_and_a_file() -> None:
    assert len(set(chips.names())) == len(chips.names())


def test_every_chip_with_a_modelled_dsp_is_simulated() -> None:
    assert set(HEXAGON) <= set(FULL)


def test_a_chip_that_is_not_simulated_says_why() -> None:
    for chip in (chips.load(name) for name in chips.names() if name not in (*FULL, *HTP)):
        assert chip.note
        if chip.dsp_kind == "none":
            assert "dsp" not in chip.runtimes
            assert all(map(chip.simulates, chip.runtimes)), "only CPU and GPU are needed"
        else:
            assert chip.dsp_kind.startswith("HTP V")
            assert not any(map(chip.simulates, chip.runtimes))


def test_every_chip_of_the_guide_has_its_column_entries() -> None:
    for chip in map(chips.load, chips.names()):
        assert chip.dsp_words
        is_later = not chip.first_listed and (chip.name in HTP or chip.dsp_kind == "none")
        assert chip.first_listed.startswith("SNPE ") or is_later
        assert chip.asic
    assert chips.load("sd835").dsp_words == "ADSP V62"
    assert chips.load("sd660").dsp_words == "CDSP V60"
    assert chips.load("sd778g").dsp_words == "HTP V68"


@pytest.mark.parametrize(
    ("called", "name"),
    [
        *(("SM8150", "sd855"), ("sm8150", "sd855"), ("8998", "sd835"), ("MSM8998", "sd835")),
        *(("SDM845", "sd845"), ("Snapdragon 835", "sd835"), ("snapdragon_820", "sd820")),
        *(("855", "sd855"), ("SD865", "sd865"), ("MSM8996 Pro", "sd821"), ("8996", "sd820")),
        *(("Snapdragon 8+ Gen 1", "sd8plusgen1"), ("QCS610", "qcs610"), ("765", "sd765")),
        *(("8 Elite", "sd8gen4"), ("8elite", "sd8gen4"), ("Snapdragon 8 Gen 2", "sd8gen2")),
        *(
            ("SM8750", "sd8gen4"),
            ("QCS6490", "qcm6490"),
            ("sd605", "qcs605"),
            ("X Elite", "sdxelite"),
        ),
        *(("SM8550-AB", "sd8gen2"), ("sm8550p", "sd8gen2"), ("SA8775P", "sa8775p")),
        ("Qualcomm Snapdragon 8 Elite Gen 5 Mobile Platform", "sd8elitegen5"),
        *(("Snapdragon 765 5G", "sd765"), ("7+ Gen 2", "sd7plusgen2"), ("4 gen 2", "sd4gen2")),
    ],
)
def test_a_chip_goes_by_all_its_names(called: str, name: str) -> None:
    assert chips.load(called).name == name


def test_no_two_chips_share_a_name() -> None:
    named = [
        n for c in map(chips.load, chips.names()) for n in (c.name, *c.part_numbers, *c.aliases)
    ]
    known = [n for name, head in CHIPS.absent.items() for n in (name, *_all_names(head))]
    assert len({*named, *known}) == len(set(named)) + len(known)


def _all_names(head: dict[str, list[str]]) -> list[str]:
    return [*head.get("part_numbers", []), *head.get("aliases", [])]


@pytest.mark.parametrize("name", CHIPS.absent)
def test_a_chip_without_a_datasheet_says_why_and_what_to_take(name: str) -> None:
    head = CHIPS.absent[name]
    for called in (name, name.removeprefix("sd"), head["title"].split(" (")[0], *_all_names(head)):
        with pytest.raises(HexsimError, match=f"is not simulated: .*; give {head['instead']}$"):
            chips.load(called)
    assert chips.load(head["instead"]).name == head["instead"]


@given(data=st.data())
@settings(max_examples=60)
def test_a_mistyped_name_is_answered_with_the_chip(data: st.DataObject) -> None:
    """Two letters that changed places, in any of its names that has letters and digits."""
    chip = chips.load(data.draw(st.sampled_from(chips.names())))
    said = data.draw(st.sampled_from((chip.name, *chip.aliases)))
    at = data.draw(st.integers(1, len(said) - 2))
    wrong = said[:at] + said[at + 1] + said[at] + said[at + 2 :]
    if not (named := _is_named(wrong)):
        with pytest.raises(HexsimError, match=f"{chip.name}|is not simulated"):
            chips.load(wrong)
    assert named or wrong != said


def _is_named(said: str) -> bool:
    try:
        return bool(chips.load(said))
    except HexsimError:
        return False


def test_what_is_not_printed_of_a_chip_is_assumed_and_says_from_where() -> None:
    """A DSP whose insides nobody printed has the clocks of its nearest chip, as assumptions."""
    for name in set(HEXAGON) - {"sd820", "sd821", "sd835", "sd845", "sd855"}:
        for path, constant in chips.load(name).quantities():
            if path.startswith(("dsp.clocks_hz", "dsp.l2_bytes")):
                assert constant.confidence == "assumed", (name, path)


def test_a_sister_has_the_silicon_of_another_and_states_what_differs() -> None:
    base, sister = chips.load("sd690"), chips.load("sd750g")
    assert sister.like == base.name
    assert sister.dsp.clocks_hz == base.dsp.clocks_hz
    assert sister.cpu.clock_hz > base.cpu.clock_hz
    assert sister.cpu.cores == base.cpu.cores
    assert chips.load("qrb5165").hta == chips.load("sd865").hta


@pytest.mark.parametrize("name", FULL)
def test_the_full_chips_simulate_all_their_runtimes(name: str) -> None:
    chip = chips.load(name)
    assert {"cpu", "gpu", "dsp"} <= set(chip.runtimes)
    assert all(chip.simulates(runtime) for runtime in chip.runtimes)
    assert ("aip" in chip.runtimes) == (chip.hta_table is not None)


@pytest.mark.parametrize("name", FULL)
def test_every_bound_of_the_sweep_is_a_valid_chip(name: str) -> None:
    chip = chips.load(name)
    changes = list(swept(chip))
    assert changes
    for path, value in changes:
        chip.with_value(path, value)


@pytest.mark.parametrize("name", FULL)
def test_peak_macs_follow_from_contexts_and_the_issue_rule(name: str) -> None:
    dsp = chips.load(name).dsp
    per_packet = MACS_PER_VECTOR_PACKET[dsp.arch]
    assert dsp.hvx.int8_macs_per_clk == dsp.hvx.contexts * per_packet / dsp.issue_clk_per_packet


@pytest.mark.parametrize(
    ("name", "gmacs"), [("sd820", 211), ("sd835", 230), ("sd845", 609), ("sd855", 1494)]
)
def test_peak_rate_is_the_published_one(name: str, gmacs: int) -> None:
    dsp = chips.load(name).dsp
    assert round(dsp.hvx.int8_macs_per_clk * dsp.clock_hz("turbo_l1") / 1e9) == gmacs


@pytest.mark.parametrize("name", FULL)
def test_clocks_fall_with_the_corner(name: str) -> None:
    dsp = chips.load(name).dsp
    clocks = [dsp.clock_hz(c) for c in ("turbo_l1", "turbo", "nominal_plus", "svs")]
    assert clocks == sorted(clocks, reverse=True)
    assert clocks[-1] < clocks[0]


def test_vtcm_came_with_v65_and_audio_shares_only_the_adsp() -> None:
    for name in FULL:
        dsp = chips.load(name).dsp
        assert (dsp.vtcm_bytes > 0) == (dsp.arch in ("v65", "v66"))
        assert (dsp.l2_audio_bytes > 0) == (dsp.owner == "adsp")


def test_aip_exists_on_the_855_and_the_v66_chips_with_a_tensor_engine() -> None:
    with_aip = {name for name in chips.names() if "aip" in chips.load(name).runtimes}
    assert with_aip == {
        *("sd855", "sd865", "sd765", "sd750g", "sd690", "qrb5165", "qcs7230"),
    }


def test_a_listed_chip_is_refused_with_what_is_missing() -> None:
    chip = chips.load("sd778g")
    assert not any(chip.simulates(runtime) for runtime in RUNTIMES)
    with pytest.raises(HexsimError) as error:
        chip.require("dsp")
    assert "sd778g cannot be simulated on dsp" in str(error.value)
    assert "[dsp] and [memory]" in str(error.value)
    assert "HTP V68" in str(error.value)
    with pytest.raises(HexsimError, match=r"sd778g states no \[gpu\] data"):
        _ = chip.gpu


def test_one_missing_table_refuses_only_the_runtimes_that_need_it(tmp_path: Path) -> None:
    sd855 = (Path(chips.__file__).parent / "sd855.toml").read_text()
    path = tmp_path / "no_hta.toml"
    path.write_text(sd855.split("[hta]")[0])
    chip = chips.load(path)
    assert [r for r in chip.runtimes if not chip.simulates(r)] == ["aip"]
    with pytest.raises(HexsimError, match=r"on aip: its data for \[hta\] is not known; chip="):
        chip.require("aip")


def test_a_runtime_the_chip_lacks_is_refused_with_those_it_has() -> None:
    chip = chips.load("sd835")
    assert chip.require("dsp") == "dsp"
    with pytest.raises(
        HexsimError, match="sd835 has no aip runtime; it has cpu, fxp_cpu, gpu, gpu_fp16, dsp"
    ):
        chip.require("aip")
    with pytest.raises(HexsimError, match="unknown runtime 'dps'; did you mean dsp"):
        chip.require("dps")


def test_an_unknown_chip_is_answered_with_its_neighbours() -> None:
    with pytest.raises(HexsimError, match=r"unknown chip 'sd836'; did you mean .*sd835"):
        chips.load("sd836")


def test_a_chip_survives_a_journey_to_another_process() -> None:
    chip = chips.load("sd855").with_value("dsp.l2_bytes", 2**19)
    travelled = pickle.loads(pickle.dumps(chip))
    assert travelled == chip
    assert dict(travelled.quantities()) == dict(chip.quantities())


@pytest.mark.parametrize("name", HTP)
def test_a_chip_with_a_tensor_processor_has_no_runtime_of_its_dsp(name: str) -> None:
    chip = chips.load(name)
    simulated = {runtime for runtime in RUNTIMES if chip.simulates(runtime)}
    assert simulated == {"htp", "htp_fp16", "cpu", "fxp_cpu", "gpu", "gpu_fp16"}
    assert chip.dsp_words == f"HTP {chip.htp.arch.upper()}"
    assert chip.default_stack == "qnn-2.43"
    with pytest.raises(HexsimError, match=r"on dsp: its data for \[dsp\] is not known .*htp"):
        chip.require("dsp")
    with pytest.raises(HexsimError, match="has no aip runtime"):
        chip.require("aip")
    for path, value in swept(chip):
        chip.with_value(path, value)


def test_a_chip_has_at_most_one_constant_of_its_own_rows() -> None:
    """Its pace, if a network or two are measured; without rows the pace is in wide bounds."""
    for name in (*FITTED, *PUBLIC):
        known = dict(chips.load(name).quantities())
        own = [path for path, constant in known.items() if "of this chip in" in constant.source]
        assert own == (["htp.pace"] if name in FITTED else [])
        confidence = "calibrated" if name in FITTED else "assumed"
        assert known["htp.pace"].confidence == confidence


@pytest.mark.parametrize("name", HTP)
def test_cpu_and_gpu_beside_a_tensor_processor_are_assumed_with_bounds(name: str) -> None:
    for path, constant in chips.load(name).quantities():
        if path.startswith(("cpu.", "gpu.")):
            shared = path == "gpu.latency_s"  # fitted to a phone, and common to all chips
            assert constant.confidence == ("calibrated" if shared else "assumed"), path
            assert constant.low is not None, path
            assert constant.high is not None, path
            assert constant.low <= constant.value <= constant.high, path


def test_other_chips_have_no_tensor_processor() -> None:
    for name in sorted(set(chips.names()) - set(HTP)):
        with pytest.raises(HexsimError, match=f"chip {name} has no htp runtime; it has cpu"):
            chips.load(name).require("htp")
        with pytest.raises(HexsimError, match=rf"{name} states no \[htp\] data"):
            _ = chips.load(name).htp


def test_who_multiplies_by_signed_weights() -> None:
    """The tensor processor takes the codes as they are: what its kernels do is not published."""
    assert chips.load("sd855").signed_kernels("dsp") == SignedKernels(66, 262_144)
    assert chips.load("sd855").signed_kernels("fxp_cpu") is None
    assert chips.load("sd835").signed_kernels("dsp") is None
    assert chips.load("qcm6490").signed_kernels("htp") is None
    assert chips.load("qcm6490").signed_kernels("htp_fp16") is None
