"""`hexsim.simulate_llm`: language models on a tensor processor."""

from pathlib import Path
from typing import TypedDict, Unpack

from hexsim.deployment.platform import Platform
from hexsim.errors import keywords_checked
from hexsim.llm.network import Conditions, Widths
from hexsim.results.language_model import LanguageModel
from hexsim.studies.language_model import language_model, read_decoder


class Lengths(TypedDict, total=False):
    """How a language model is used, in tokens, and `part_gb`, the most gigabytes of a part."""

    context: int
    prompt: int
    generate: int
    block: int
    part_gb: float


@keywords_checked
def simulate_llm(
    config: str | Path,
    chip: str | Path = "sd8gen4",
    *,
    stack: str | Path | None = None,
    weights: str | None = None,
    activations: str = "16",
    vtcm_mb: float | None = None,
    draft: int | None = None,
    **lengths: Unpack[Lengths],
) -> LanguageModel:
    """Simulate a language model, given by its `config.json` or ONNX export, on a tensor processor.

    No weights are needed. `weights` are "w4" or "w8", by default those of an ONNX file and w4 for a
    configuration; `activations` are "8", "16" or "float". `vtcm_mb` is the VTCM that a graph may
    use, by default all of it. With `draft`, a number of tokens or 0, changes that could help are
    simulated too. `lengths` are the fields of `Lengths`: context, prompt, generate, block, part_gb.
    Raises HexsimError if the configuration lacks a key, or the model cannot be deployed under these
    conditions.
    """
    architecture = read_decoder(config)
    widths = Widths.parse(weights, activations, architecture)
    platform = Platform.load(chip, stack).with_vtcm(vtcm_mb)
    return language_model(architecture, platform, Conditions(widths, **lengths), draft=draft)
