"""Damaged ONNX files end in an answer or a sentence: no traceback, hang, crash or memory case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fuzz.onnx_case import judge
from tests.fuzz.onnx_seeds import seeds
from tests.fuzz.process import judged
from tests.thorough import THOROUGH, cases

_LIBRARIES = ("ONNXRuntimeError", "ShapeInference", "TypeInference", "onnxruntime_src", "Traceback")
"""Words that only raw text of a library has."""


@pytest.mark.slow
def test_the_undamaged_files_answer(tmp_path: Path) -> None:
    said = [judge(data, tmp_path) for data in seeds()[:: 1 if THOROUGH else 3]]
    unanswered = [
        sentence for sentence in said if sentence and "end the network before it" not in sentence
    ]
    assert not [sentence for sentence in unanswered if "multiplies on HVX" not in sentence]


@pytest.mark.slow
def test_damaged_files_end_in_an_answer_or_a_sentence() -> None:
    numbers = cases(300)
    verdicts = list(judged("onnx", numbers.start, len(numbers)))
    refused = [case for case in verdicts if case.said]
    answered = [case for case in verdicts if not case.said and not case.fault]
    faults = [f"case {case.number}: {case.fault[-2000:]}" for case in verdicts if case.fault]
    print(f"{len(verdicts)} cases: {len(refused)} refused, {len(answered)} answered")
    assert not faults, "\n".join(faults)
    assert len(verdicts) == len(numbers)
    assert len(refused) > len(numbers) / 4
    assert len(answered) > len(numbers) / 20
    for case in refused:
        text = re.sub(r"'[^']*'", "", case.said)  # without names, which may be anything
        assert "\n" not in text, case
        assert not any(word in text for word in _LIBRARIES), case
