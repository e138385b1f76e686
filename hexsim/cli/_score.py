"""The score of a network that was just quantised, on the inputs that did not calibrate it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hexsim.errors import HexsimError
from hexsim.runtimes import preferred

if TYPE_CHECKING:
    from hexsim.deployment.platform import Platform
    from hexsim.graph.ir import Network
    from hexsim.inputs.source import InputSource
    from hexsim.inputs.split import Part
    from hexsim.quantization.model import Model


def score(
    floats: Network, coded: Model, given: InputSource, part: Part | None, platform: Platform
) -> str:
    """Return the SQNR of the outputs as `hexsim validate --float` prints it, or why there is none.

    `floats` is the network that became `coded`, calibrated on `part` of the inputs `given`; seeded
    ones tell nothing. The runtime is the tensor processor if the platform has one, else the DSP.
    """
    from hexsim.accuracy.agreements import Agreements
    from hexsim.accuracy.output_errors import each_output, sqnr_text
    from hexsim.accuracy.reference import with_reference
    from hexsim.deployment import deploy
    from hexsim.inputs.split import part_of

    if given.seeded:
        return ""
    if part != "calibrate":
        return (
            "all these inputs calibrated, so none judges: with --part calibrate the others of them "
            "do; or give others to hexsim validate --float"
        )
    judging, runtime = part_of(given, "judge"), preferred(platform.runtimes)
    where = f"{runtime} of {platform.chip.name}"
    try:
        deployment = deploy(with_reference(coded, floats), platform, runtime)
    except HexsimError as error:
        return f"no SQNR of the outputs on {where}: {error}"
    references = Agreements(deployment.network, judging.feeds, judging.items)
    agreed = references.of(deployment)
    db = sqnr_text(agreed.outputs)
    text = f"SQNR of the outputs: {db} on {where}, over {judging.description}"
    return "\n  ".join(filter(None, (text, each_output(agreed.outputs))))
