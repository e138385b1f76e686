"""The device table tells who is simulated; the page of a chip tells why one is not."""

from __future__ import annotations

from benchmarks.pages import ROOT
from hexsim.datasheets import chips, stacks
from hexsim.datasheets.measurements import ANY_CHIP, expected_error
from hexsim.reports.datasheets.chip import chip_page, chip_table


def test_chips_that_are_simulated_come_first_and_the_others_are_in_brackets() -> None:
    text = chip_table([chips.load(name) for name in ("sd778g", "sd7plusgen3", "sd835")])
    first, *others = text.partition("\n\n")[0].splitlines()[2:]
    words = first.split()
    assert words[:2] == ["sd835", "MSM8998"]
    assert "ADSP V62" in first
    assert words[-1] == "dsp"
    assert all("(cpu)" in line for line in others)


def test_the_error_of_a_chip_is_its_own_or_in_brackets_that_of_others() -> None:
    """Only of runtimes that are simulated and were measured on some chip."""
    measured, other = (chip_table([chips.load(name)]) for name in ("sd8gen3", "sd7sgen3"))
    error = expected_error("sd8gen3", "qnn-2.43", "htp")
    assert error is not None
    assert f"htp {error.median:.0%}" in measured
    any_chip = expected_error("sd7sgen3", "qnn-2.43", "htp")
    assert any_chip is not None
    assert any_chip.chip == ANY_CHIP
    assert f"htp ({any_chip.median:.0%})" in other
    assert "error:" in measured.splitlines()[-1]


def test_the_page_of_a_chip_counts_what_is_assumed() -> None:
    chip = chips.load("sd710")
    text = chip_page(chip)
    assumed = [q for _, q in chip.quantities() if q.confidence == "assumed"]
    assert f"assumed: {len(assumed)} of " in text
    assert chip.note in text
    assert text.count(chip.title) == 1
    assert all(q.source in text for q in assumed)


def test_a_chip_that_is_not_simulated_says_why_and_shows_no_table() -> None:
    text = chip_page(chips.load("SM7325"))
    assert "not simulated: chip sd778g cannot be simulated on dsp" in text
    assert "HTP V68" in text
    assert "confidence" not in text


def test_every_chip_that_is_not_simulated_says_why() -> None:
    known = [chips.load(name) for name in chips.names()]
    idle = [chip for chip in known if not any(map(chip.simulates, chip.runtimes))]
    assert idle
    for chip in idle:
        (line,) = (
            splitline
            for splitline in chip_page(chip).splitlines()
            if splitline.startswith("not simulated")
        )
        assert f"chip {chip.name} cannot be simulated" in line
        assert line.endswith(")"), "the reason stands behind the sentence"


def test_fxp_cpu_is_listed_where_the_stack_of_the_chip_has_it() -> None:
    for name in ("sd835", "sd865", "sd8gen3", "sd625"):
        chip = chips.load(name)
        expected = "fxp_cpu" in stacks.load(chip.default_stack).runtimes
        assert ("fxp_cpu" in chip_table([chip])) is expected
        assert ("fxp_cpu" in chip_page(chip).partition("constant")[0]) is expected
    assert "fxp_cpu" not in chip_page(chips.load("sd865"))


def test_a_barrel_says_what_its_clock_means_and_leaves_out_what_means_nothing() -> None:
    file = ROOT / "examples/barrel.toml"
    barrel, dynamic = (chip_page(chips.load(name)) for name in (file, "sd835"))
    assert "barrel: 600 MHz are 3 threads of 200 MHz, which take turns" in barrel
    assert "barrel" not in dynamic
    for path in ("dsp.issue_clk_per_packet", "dsp.lone_thread_speedup"):
        assert path in dynamic
        assert path not in barrel


def test_energies_are_those_of_parts_that_the_chip_has() -> None:
    parts = ("dsp.mac_j", "dsp.vtcm_j", "hta.mac_j", "htp.mac_j", "idle.dsp_wake_j", "island.mac_j")
    parts_shown = {
        name: {part for part in parts if part in chip_page(chips.load(name))}
        for name in ("sd835", "sd855", "sd8gen3", "sd652")
    }
    assert parts_shown["sd835"] == set(parts) - {"dsp.vtcm_j", "hta.mac_j", "htp.mac_j"}
    assert parts_shown["sd855"] == set(parts) - {"htp.mac_j"}
    assert {"htp.mac_j", "dsp.mac_j"} <= parts_shown["sd8gen3"]
    assert "hta.mac_j" not in parts_shown["sd8gen3"]
    assert parts_shown["sd652"] == set()
