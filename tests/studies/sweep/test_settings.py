"""Settings hold all that a worker needs, and say which cut they have."""

import shutil
from collections.abc import Callable
from pathlib import Path

from hexsim.datasheets import background
from hexsim.studies.sweep.points import Points, row
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space


def test_only_aip_has_another_cut_than_the_compilers(space: Callable[[str], Space]) -> None:
    text = 'networks = ["m.dlc"]\nchips = ["sd855"]\nruntimes = ["dsp", "aip"]\ncuts = {cuts}'
    for cuts, expected in (
        (["fastest"], [("dsp", "automatic"), ("aip", "fastest")]),
        (
            ["fastest", "automatic"],
            [("dsp", "automatic"), ("aip", "fastest"), ("aip", "automatic")],
        ),
    ):
        listed = settings(space(text.format(cuts=cuts)))
        assert [(setting.runtime, setting.cut) for setting in listed] == expected


def test_loads_are_read_where_the_space_is(space: Callable[[str], Space], folder: Path) -> None:
    """Workers may be on other machines."""
    shutil.copy(Path(background.__file__).with_name("camera.toml"), folder / "mine.toml")
    text = (
        'networks = ["m.dlc"]\nchips = ["sd855"]\n[workload]\nbackground = [["{}"]]\ninferences = 3'
    )
    asked = space(text.format("mine.toml"))
    (mine,) = Points(asked, settings(asked))
    (folder / "mine.toml").unlink()
    asked = space(text.format("camera"))
    (built_in,) = Points(asked, settings(asked))
    own, wanted = row(mine, 3), row(built_in, 3)
    assert own["latency_ms"] == wanted["latency_ms"] is not None
    assert own["background"] == "mine.toml"
