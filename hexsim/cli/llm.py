"""`hexsim llm`: the speed and the memory of a language model on a tensor processor."""

from __future__ import annotations

from typing import Annotated

import typer

from hexsim.cli._files import FILE
from hexsim.cli._options import StackOption, VtcmOption
from hexsim.cli._output import JsonTraceHtml
from hexsim.cli._say import say
from hexsim.cli._signature import Keywords, grouped, paged
from hexsim.cli._simulated import OnChip
from hexsim.records import dataclass


@dataclass(frozen=True)
class Processor(OnChip):
    """A chip, its software, and the memory of its tensor processor."""

    stack: StackOption = None
    vtcm_mb: VtcmOption = None


@dataclass(frozen=True)
class Lengths(Keywords):
    """The widths of a model's numbers, and numbers of tokens."""

    weights: Annotated[str | None, "Weights: w4 or w8. Default: those of the file, or w4."] = None
    activations: Annotated[str, "Activations: 16 or 8 bits, or float (float16)."] = "16"
    context: Annotated[int, "Tokens for which the graphs are compiled."] = 4096
    prompt: Annotated[int, "Tokens of the prompt."] = 1024
    generate: Annotated[int, "Tokens to generate."] = 256
    block: Annotated[int, "Tokens of the prompt that are processed at once."] = 128
    part_gb: Annotated[float, "Most gigabytes of a part of the model."] = 2.0


@dataclass(frozen=True)
class Questions:
    """What else is asked about a model."""

    what_if: Annotated[bool, "Also simulate changes that could help."] = False
    draft: Annotated[int, "With --what-if: tokens of a draft, 0 for none."] = 4


@paged
@grouped
def llm(
    *,
    model: Annotated[
        str,
        typer.Argument(help="config.json of a language model, its folder, or its ONNX export."),
        FILE,
    ],
    processor: Processor,
    lengths: Lengths,
    questions: Questions,
    outputs: JsonTraceHtml,
) -> None:
    """Tokens per second, time to the first token and memory of a language model."""
    from hexsim.api.throughput import simulate_llm
    from hexsim.reports.trace import trace_json

    answer = simulate_llm(
        model,
        draft=questions.draft if questions.what_if else None,
        recorded=outputs.trace is not None or outputs.html is not None,
        **processor.keywords(),
        **lengths.keywords(),
    )
    outputs.write(answer, trace=lambda: trace_json(list(answer.timelines.items())))
    say(str(answer))
