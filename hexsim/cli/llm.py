"""`hexsim llm`: the speed and the memory of a language model on a tensor processor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from hexsim.cli._files import FILE
from hexsim.cli._options import ChipOption, StackOption, VtcmOption
from hexsim.cli._output import JsonTraceHtml
from hexsim.cli._say import command_line, say
from hexsim.cli._signature import grouped, paged

if TYPE_CHECKING:
    from hexsim.llm.architecture import Architecture
    from hexsim.llm.network import Conditions, Widths


@dataclass(frozen=True)
class Numbers:
    """The widths of a model's numbers."""

    weights: Annotated[
        str | None,
        typer.Option("--weights", help="Weights: w4 or w8. Default: those of the file, or w4."),
    ] = None
    activations: Annotated[
        str, typer.Option("--activations", help="Activations: 16 or 8 bits, or float (float16).")
    ] = "16"

    def widths(self, architecture: Architecture) -> Widths:
        """Parse both; weights that are not given have the bits of the file."""
        from hexsim.llm.network import Widths

        return Widths.parse(self.weights, self.activations, architecture)


@dataclass(frozen=True)
class Lengths:
    """Numbers of tokens, and the size of a part."""

    context: Annotated[
        int, typer.Option("--context", help="Tokens for which the graphs are compiled.")
    ] = 4096
    prompt: Annotated[int, typer.Option("--prompt", help="Tokens of the prompt.")] = 1024
    generate: Annotated[int, typer.Option("--generate", help="Tokens to generate.")] = 256
    block: Annotated[
        int, typer.Option("--block", help="Tokens of the prompt that are processed at once.")
    ] = 128
    part_gb: Annotated[
        float, typer.Option("--part-gb", help="Most gigabytes of a part of the model.")
    ] = 2.0

    def conditions(self, widths: Widths) -> Conditions:
        """Return the conditions with these widths; raise HexsimError if they do not fit."""
        from hexsim.llm.network import Conditions

        return Conditions(
            widths, self.context, self.prompt, self.generate, self.block, self.part_gb
        )


@dataclass(frozen=True)
class Questions:
    """What else is asked about a model."""

    what_if: Annotated[
        bool, typer.Option("--what-if", help="Also simulate changes that could help.")
    ] = False
    draft: Annotated[
        int, typer.Option("--draft", help="With --what-if: tokens of a draft, 0 for none.")
    ] = 4


@paged
@grouped
def llm(
    *,
    model: Annotated[
        str,
        typer.Argument(help="config.json of a language model, its folder, or its ONNX export."),
        FILE,
    ],
    chip: ChipOption = "sd8gen4",
    stack: StackOption = None,
    vtcm: VtcmOption = None,
    numbers: Numbers,
    lengths: Lengths,
    questions: Questions,
    outputs: JsonTraceHtml,
) -> None:
    """Tokens per second, time to the first token and memory of a language model."""
    from hexsim.deployment.platform import Platform
    from hexsim.reports.pages.command_pages import llm_page
    from hexsim.reports.studies import llm_text
    from hexsim.reports.trace import trace_json
    from hexsim.studies.language_model import language_model, read_decoder

    architecture = read_decoder(model)
    conditions = lengths.conditions(numbers.widths(architecture))
    platform = Platform.load(chip, stack).with_vtcm(vtcm)
    speed = language_model(
        architecture,
        platform,
        conditions,
        draft=questions.draft if questions.what_if else None,
        recorded=outputs.trace is not None or outputs.html is not None,
    )
    outputs.write(
        json=speed.to_json,
        trace=lambda: trace_json(list(speed.timelines.items())),
        html=lambda: llm_page(speed, command_line()),
    )
    say(llm_text(speed))
