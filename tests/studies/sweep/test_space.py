"""Files of spaces: what is read, and the sentence for what is not."""

from collections.abc import Callable

import pytest

from hexsim.errors import HexsimError
from hexsim.studies.sweep.points import Points
from hexsim.studies.sweep.settings import settings
from hexsim.studies.sweep.space import Space

M = 'networks = ["m.dlc"]\n'
EFFICIENCY = '[constants."memory.efficiency"]\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected networks or language_models"),
        ('networks = "m.dlc"', "key 'networks' is"),
        ("networks = []", "key 'networks' is"),
        (M + 'runtimes = ["tpu"]', "key 'runtimes"),
        (M + 'chips = ["sd855", "sd855"]', "expected 'sd855' only once"),
        (M + EFFICIENCY + "values = [0.5, 0.6, 0.5]", "expected 0.5 only once"),
        (M + "[workload]\nbackground = [[], []]", "only once"),
        (M + "draws = 5", "expected a constant with drawn = true"),
        (M + "draws = 5", "space.toml: expected"),
        (M + EFFICIENCY + "values = []", "is []; expected at least 1 item"),
        (M + f"draws = {10**20}\n" + EFFICIENCY + "drawn = true", "at most 9.22e+18 points"),
        (M + "drwas = 5", "did you mean draws?"),
        (M + EFFICIENCY + "values = [0.5]\nsteps = 3", "expected one of values"),
        (M + EFFICIENCY, "expected one of values"),
        (M + EFFICIENCY + "steps = 1", "key 'constants.memory.efficiency.steps' is 1"),
        (M + EFFICIENCY + "values = [nan]", "space.toml"),
        (M + "[workload]\ninstances = [0]", "key 'workload.instances"),
        (M + "[workload]\ninstances = [1, 2]\nidle_ms = [0, 5]", "workload' is wrong; expected no"),
        (M + '[workload]\nbackground = [["audio"]]\nidle_ms = [5]', "a loop of calls without"),
        (M + "= 1", "not valid TOML"),
        (M + "[workload]\nbuffers = 1979-05-27", "(1979, 5, 27); expected a list"),
        (M + "stacks = 1", "key 'stacks' is 1; expected a list"),
        (M + '"" = 1', "key '' is not known"),
    ],
)
def test_mistakes_in_the_file(space: Callable[[str], Space], text: str, said: str) -> None:
    with pytest.raises(HexsimError, match=r"space\.toml") as error:
        space(text)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (M.replace("m.dlc", "gone.onnx"), "gone.onnx"),
        (M + 'chips = ["sd999"]', "unknown chip 'sd999'"),
        (M + 'chips = ["sd835"]\nruntimes = ["aip"]', "aip"),
        (M + '[workload]\nbackground = [["camra"]]', "did you mean camera"),
        (M + '[workload]\nperf_profiles = ["brst"]', "did you mean burst"),
        (M + 'stacks = ["tflite-hexagon"]\n[workload]\nbuffers = ["float"]', "buffer type"),
        (
            M + '[constants."memory.eficiency"]\nvalues = [1]',
            "did you mean memory.efficiency",
        ),
        (
            M + 'chips = ["sd855"]\n[constants."dsp.hvx.contexts"]\nsteps = 3',
            "has no bounds of its own",
        ),
        (M + EFFICIENCY + "low = 0.9\nhigh = 0.1\nsteps = 3", "a range from 0.9 to 0.1"),
        (M + EFFICIENCY + 'low = 0\nsteps = 3\nscale = "log"', "above 0 for a log scale"),
    ],
)
def test_what_platforms_do_not_have(space: Callable[[str], Space], text: str, said: str) -> None:
    with pytest.raises(HexsimError) as error:
        settings(space(text))
    assert said in str(error.value)


def test_ends_that_are_left_out_are_the_bounds(space: Callable[[str], Space]) -> None:
    asked = space(M + EFFICIENCY + "steps = 2")
    points = Points(asked, settings(asked))
    stated = points.settings[0].constants["memory.efficiency"]
    assert [p.constants["memory.efficiency"] for p in points] == [stated.low, stated.high]
