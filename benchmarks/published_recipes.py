"""docs/reference/published-recipes.md: command lines of public guides, and what each does here.

python -m benchmarks.published_recipes [--write]

tests/snpe/test_recipes.py runs every line on two chips. Names of files and tensors are changed; for
a chip that a line does not name, HEXSIM_CHIP is set.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.pages import REFERENCE, with_block
from hexsim.files.atomic_write import write_text
from hexsim.snpe.tool import TOOLS
from hexsim.snpe.words import read

PAGE = REFERENCE / "published-recipes.md"
_CONVERT = "snpe-onnx-to-dlc -i m.onnx -o net.dlc"
_QUANTIZE = "snpe-dlc-quantize --input_dlc net.dlc --input_list raw.txt"
NEEDS_HTP = ("qnn-context-binary-generator",)
"""Tools that a chip without a tensor processor is refused by."""


@dataclass(frozen=True)
class Recipe:
    """The `lines` of a public `source` and the file that they end with; `ours` is what we added.

    `not_on_sd855` is the reason why its DSP refuses the file, which then runs on the CPU.
    """

    title: str
    source: str
    lines: tuple[str, ...]
    result: str = "net_quantized.dlc"
    ours: str = ""
    tensors_in_list: bool = False
    not_on_sd855: str = ""


RECIPES = (
    Recipe(
        "MQBench: encodings of training",
        "https://mqbench.readthedocs.io/en/latest/user_guide/deploy/snpe.html",
        (
            "snpe-onnx-to-dlc --input_network ./m.onnx --output_path ./net.dlc "
            "--quantization_overrides ./ranges.json",
            "snpe-dlc-quantize --input_dlc ./net.dlc --input_list ./raw.txt --override_params "
            "--bias_bitwidth 32",
        ),
    ),
    Recipe(
        "YOLO-NAS on Snapdragon 8 Gen 2: three quantisers together",
        "https://github.com/qualcomm/qidk/issues/28",
        (
            _CONVERT,
            f"{_QUANTIZE} --use_enhanced_quantizer --use_adjusted_weights_quantizer --axis_quant "
            "--output_dlc net_quantized.dlc",
        ),
    ),
    Recipe(
        "YOLO-NAS in QIDK: a graph prepared for its outputs",
        "https://github.com/qualcomm/qidk/tree/master/Solutions/"
        "VisionSolution1-ObjectDetection-YoloNas",
        (
            f"{_CONVERT} --out_node y",
            f"{_QUANTIZE} --output_dlc intermediate.dlc",
            "snpe-dlc-graph-prepare --input_dlc intermediate.dlc --set_output_tensors=y "
            "--htp_socs=sm8650 --output_dlc=net_quantized.dlc",
        ),
    ),
    Recipe(
        "VGG16 for the SNPE provider of ONNX Runtime",
        "https://github.com/microsoft/onnxruntime-inference-examples/pull/156",
        (_CONVERT, f"{_QUANTIZE} --output_dlc net_quantized.dlc"),
        ours="the conversion",
    ),
    Recipe(
        "MiDaS with PySNPE",
        "https://github.com/qualcomm/qidk/issues/59",
        (
            "snpe-onnx-to-dlc -i m.onnx --input_dim x 1,3,4,4 --out_node y -o net.dlc",
            f"{_QUANTIZE} --output_dlc net_quantized.dlc",
        ),
        ours="quantising",
    ),
    Recipe(
        "Inception v3 in the guide of SNPE 2.x",
        "https://docs.qualcomm.com/doc/80-63442-10/topic/model_conversion.html",
        (
            _CONVERT,
            "snpe-dlc-quant --input_dlc net.dlc --input_list raw.txt --output_dlc q.dlc",
            "snpe-dlc-graph-prepare --input_dlc q.dlc --output_dlc net_quantized.dlc "
            "--htp_socs sm8750",
        ),
        ours="the conversion",
    ),
    Recipe(
        "Electra in QIDK: a float graph for one architecture",
        "https://github.com/qualcomm/qidk/tree/master/Solutions/NLPSolution1-QuestionAnswering",
        (
            _CONVERT,
            "snpe-dlc-graph-prepare --input_dlc net.dlc --use_float_io --htp_archs v79 "
            "--set_output_tensors y",
        ),
        result="net_cached.dlc",
        ours="the conversion, which is from TensorFlow there",
    ),
    Recipe(
        "ResNet50 on Dragon Q6A: QAIRT to a context binary",
        "https://docs.radxa.com/en/dragon/q6a/app-dev",
        (
            "qairt-converter --input_network ./m.onnx -d 'x' 1,3,4,4 --output_path net.dlc",
            "qairt-quantizer --input_dlc ./net.dlc --input_list ./raw.txt "
            "--output_dlc net_quantized.dlc",
            "qnn-context-binary-generator --model libQnnModelDlc.so --backend libQnnHtp.so "
            "--dlc_path net_quantized.dlc --output_dir output --binary_file net_quantized "
            "--config_file config_file.json",
        ),
        ours="--output_path of the converter",
    ),
    Recipe(
        "YOLOv11 on QCS6490: equalised, 16-bit activations",
        "https://github.com/ADVANTECH-Corp/EdgeAI_Workflow",
        (
            "snpe-onnx-to-dlc -i m.onnx --out_node y -o net.dlc",
            f"{_QUANTIZE} --use_enhanced_quantizer --use_adjusted_weights_quantizer "
            "--optimizations cle --axis_quant --enable_htp --htp_socs QCS6490 --override_params "
            "--act_bitwidth 16 --weights_bitwidth 8 --output_dlc net_quantized.dlc",
            "qairt-dlc-info -i net_quantized.dlc",
        ),
        not_on_sd855="16 need a Snapdragon 765, 865 or later",
    ),
    Recipe(
        "MobileNet V2 on 6490: a list that names tensors",
        "https://docs.qualcomm.com/bundle/publicresource/"
        "KBA-240222221537_REV_1_Quick_Start_Demo_of_SNPE_Mobilenet_V2_in_6490.pdf",
        (
            "snpe-onnx-to-dlc --input_network m.onnx -d 'x' 1,3,4,4 --out_node y -o net.dlc",
            f"{_QUANTIZE} --output_dlc net_quantized.dlc",
        ),
        ours="quantising, and ONNX in the place of TensorFlow; the list with its lines of output "
        "tensor and named input is theirs",
        tensors_in_list=True,
    ),
)


def entries() -> str:
    """A section for each recipe."""
    return "\n\n".join(
        "\n".join(_section(number, r)).rstrip() for number, r in enumerate(RECIPES, 1)
    )


def _section(number: int, recipe: Recipe) -> Iterator[str]:
    yield f"### {number}. {recipe.title}"
    yield f"\nSource: <{recipe.source}>." + (f" Ours: {recipe.ours}." if recipe.ours else "")
    yield "\n```\n" + "\n".join(recipe.lines) + "\n```\n"
    yield from dict.fromkeys(remark for line in recipe.lines for remark in _remarks(line))
    if any(line.startswith(NEEDS_HTP) for line in recipe.lines):
        yield (
            f"- On sd855 `{NEEDS_HTP[0]}` is refused: the chip has no tensor processor. The "
            "quantised file runs on its DSP with snpe-net-run."
        )
    if recipe.not_on_sd855:
        yield (
            "- On sd855 `snpe-net-run --use_dsp` is refused, as activations have 16 bits, and "
            f"{recipe.not_on_sd855}. The file runs on its CPU."
        )


def _remarks(line: str) -> Iterator[str]:
    """Yield what the tool does, and the options that have no effect or are refused."""
    name, *words = shlex.split(line)
    yield f"- `{name}`: {TOOLS[name].summary}"
    for option, values in read(TOOLS[name].options, words):
        effect = option.becomes(values)
        if effect.kind == "ignored":
            yield f"- `{option.name}` changes nothing: {effect.why}."
        if effect.kind == "refused":
            yield f"- `{option.name}` is refused: {effect.why}."


def page() -> str:
    """The page with today's remarks."""
    return with_block(PAGE.read_text(encoding="utf-8"), "recipes", entries())


def main() -> None:
    """Print the entries, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        write_text(PAGE, page())
    else:
        print(entries())


if __name__ == "__main__":
    main()
