"""`hexsim.info`: what a network is made of; imported modules are few, so that it starts fast."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy.typing as npt

from hexsim.api.parameters import source_name, warn_of
from hexsim.dlc.loading import load_container
from hexsim.errors import HexsimError, spelled
from hexsim.quantization.model import Model
from hexsim.results.info import Info
from hexsim.runtimes import Runtime, RuntimeChoice
from hexsim.studies.model_info import answered
from hexsim.texts.arguments import arguments_checked


@arguments_checked
def info(
    model: Model | str | Path,
    chip: str | Path | None = None,
    runtime: RuntimeChoice = "auto",
    *,
    memory: Runtime | None = None,
    imports: bool = False,
    input_dims: Mapping[str, Sequence[int]] | None = None,
    input_values: Mapping[str, npt.ArrayLike] | None = None,
    output_names: Sequence[str] = (),
) -> Info:
    """List the layers of a model: shapes, runtimes, parameters, MACs, as `hexsim info` does.

    With a `chip`, the time of each layer on `runtime` ("auto": that of a deployed network), what is
    lost there, and the cost of rescaling weights for its DSP. `memory` is a runtime whose memory is
    listed too; `imports` adds the nodes that an ONNX file's layers were made of. `input_dims`,
    `input_values` and `output_names` change the network first, as for `hexsim.load`. No weight is
    read without a chip. Raises HexsimError if a runtime does not take the model.
    """
    if runtime != "auto" and chip is None:
        raise HexsimError(
            f"{spelled('runtime')} is for the times on a chip; give {spelled('chip')} too"
        )
    source = source_name(model)
    read = load_container(
        source,
        input_dims=input_dims or {},
        input_values=input_values or {},
        output_names=output_names,
    )
    answer = answered(read, source, chip, runtime, memory, imports=imports)
    warn_of((answer.network, answer.findings))
    return answer
