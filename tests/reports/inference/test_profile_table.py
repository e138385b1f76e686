"""The profile of an inference on a terminal: where a layer ran is told before its counts."""

from __future__ import annotations

from msgspec.structs import replace

from hexsim.reports.fitting import page
from hexsim.reports.inference.profile import profile_table
from hexsim.studies.inferences import energy_use, memory_use, times_of
from tests.charts import case as a_case
from tests.deployed import deployed
from tests.small_networks import ERF, Opaque, Sketch


def text(width: int | None) -> str:
    sketch = Sketch((1, 28, 28, 32))
    wide = sketch.conv("in", 64, 3)
    last = sketch.add(Opaque, wide, op_type="Erf", node=ERF, shapes=(sketch.shape(wide),))
    deployment = deployed(sketch.network(sketch.conv(last, 8, 3)))
    timing = deployment.simulate()
    energy = deployment.platform.energy(timing)
    case = replace(
        a_case(),
        **times_of(timing, energy),
        memory=memory_use(deployment.memory()),
        energy=energy_use(energy),
    )
    with page(width):
        return profile_table(case)


def test_a_narrow_page_says_which_engine_ran_a_layer() -> None:
    rows = [line.split() for line in text(72).splitlines()]
    assert rows[0] == ["layer", "type", "engine", "us", "share", "bound"]
    assert [row[2] for row in rows[2:5]] == ["hvx", "cpu", "hvx"]


def test_columns_are_explained_where_they_are_shown() -> None:
    assert "\nstalls: share of" in text(None)
    assert "\nDDR rd KiB, DDR wr KiB, L2 KiB, VTCM KiB: bytes moved\n" in text(None)
    narrow = text(72)
    assert "stalls: " not in narrow
    assert "bytes moved" not in narrow
    assert "\nbound: what most of" in narrow
