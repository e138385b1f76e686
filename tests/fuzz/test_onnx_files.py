"""Damaged ONNX files end in an answer or a sentence: no traceback, hang, crash or memory case.

HEXSIM_FUZZ_CASES sets how many are tried, HEXSIM_FUZZ_FIRST the number of the first. The same
numbers are the same files. What is found is printed with its number; `python -m
tests.fuzz.onnx_case NUMBER 1` tries it again.
"""

from __future__ import annotations

import os
import re

import pytest

from tests.fuzz.onnx_case import judge
from tests.fuzz.onnx_run import judged
from tests.fuzz.onnx_seeds import seeds
from tests.thorough import THOROUGH

CASES = int(os.environ.get("HEXSIM_FUZZ_CASES", "300"))
FIRST = int(os.environ.get("HEXSIM_FUZZ_FIRST", "0"))
_LIBRARIES = ("ONNXRuntimeError", "ShapeInference", "TypeInference", "onnxruntime_src", "Traceback")
"""Words that only raw text of a library has."""


@pytest.mark.slow
def test_the_undamaged_files_answer() -> None:
    said = [judge(data) for data in seeds()[:: 1 if THOROUGH else 3]]
    unanswered = [
        sentence for sentence in said if sentence and "end the network before it" not in sentence
    ]
    assert not [sentence for sentence in unanswered if "multiplies on HVX" not in sentence]


@pytest.mark.slow
def test_damaged_files_end_in_an_answer_or_a_sentence() -> None:
    verdicts = list(judged(FIRST, CASES))
    refused = [case for case in verdicts if case.said]
    answered = [case for case in verdicts if not case.said and not case.fault]
    faults = [f"case {case.number}: {case.fault[-2000:]}" for case in verdicts if case.fault]
    print(f"{len(verdicts)} cases: {len(refused)} refused, {len(answered)} answered")
    assert not faults, "\n".join(faults)
    assert len(verdicts) == CASES
    assert len(refused) > CASES / 4
    assert len(answered) > CASES / 20
    for case in refused:
        text = re.sub(r"'[^']*'", "", case.said)  # without names, which may be anything
        assert "\n" not in text, case
        assert not any(word in text for word in _LIBRARIES), case
