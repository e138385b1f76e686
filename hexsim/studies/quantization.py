"""How right a network is that was just quantised, on inputs that did not calibrate it."""

from hexsim.accuracy.agreement import Agreements
from hexsim.accuracy.reference import with_reference
from hexsim.deployment import deploy
from hexsim.deployment.platform import Platform
from hexsim.errors import HexsimError
from hexsim.graph.ir import Network
from hexsim.inputs.source import InputSource, Part, part_of
from hexsim.quantization.model import Model
from hexsim.results.quantization import Score
from hexsim.runtimes import preferred


def score_of(
    floats: Network, coded: Model, source: InputSource, part: Part | None, platform: Platform
) -> Score | None:
    """Return the error of the outputs as `hexsim.validate` computes it.

    `floats` is the network that became `coded`, calibrated on `part` of the inputs `source`; seeded
    ones tell nothing. The runtime is the tensor processor if the platform has one, else the DSP.
    Without inputs that judge, and on a runtime that refuses the model, the score has no outputs.
    """
    if source.seeded:
        return None
    runtime, chip = preferred(platform.runtimes), platform.chip.name
    if part != "calibrate":
        return Score(chip=chip, runtime=runtime)
    judging = part_of(source, "judge")
    try:
        deployment = deploy(with_reference(coded, floats), platform, runtime)
    except HexsimError as error:
        refusal = str(error)
        return Score(chip=chip, runtime=runtime, inputs=judging.description, refusal=refusal)
    references = Agreements(deployment.network, judging.feeds, judging.items)
    outputs = references.of(deployment).outputs
    return Score(
        chip=chip,
        runtime=runtime,
        inputs=judging.description,
        outputs=outputs,
    )
