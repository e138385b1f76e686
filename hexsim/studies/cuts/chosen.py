"""The HTA sections of a model that a user asks about, and where they come from."""

from hexsim.deployment import Deployment
from hexsim.errors import HexsimError
from hexsim.planning.sections import automatic, given, parse


def chosen_sections(deployment: Deployment, listed: str | None) -> tuple[tuple[range, ...], str]:
    """Return the sections and, in words, their source: listed by the user, of the file, automatic.

    Raises HexsimError if the list breaks a rule or is for another chip.
    """
    model, platform = deployment.model, deployment.platform
    chip, release = platform.chip, platform.stack.partitioning
    if listed is not None:
        parsed = parse(listed)
        if parsed.asic not in ("", chip.name, *chip.part_numbers):
            raise HexsimError(
                f"--hta-partitions lists sections for {parsed.asic}, and the chip is {chip.name}"
            )
        if parsed.ranges is not None:
            return given(model, parsed.ranges, release), "as listed"
    compiled = compiled_sections(deployment)
    if compiled and listed is None:
        return compiled, "of the file"
    return automatic(model, release), "automatic, as --enable-hta compiles them"


def compiled_sections(deployment: Deployment) -> tuple[range, ...]:
    """The sections that the model holds for the chip."""
    index = {layer.name: at for at, layer in enumerate(deployment.network.layers)}
    return tuple(
        range(index[section.layers[0]], index[section.layers[-1]] + 1)
        for section in deployment.model.hta
        if section.chip == deployment.platform.chip.name
    )
