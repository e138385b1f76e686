"""Every document that a public function returns is the same after it was written and read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hexsim
from hexsim.errors import HexsimError
from hexsim.results.benchmark import Benchmark, Inference
from hexsim.results.document import Document

NET = "ds_cnn_s"
LANGUAGE_MODEL = {
    "model_type": "llama",
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "vocab_size": 1000,
}


def compared() -> Document:
    return hexsim.compare([hexsim.profile(NET, chip=chip) for chip in ("sd8gen4", "sd855")])


MADE: dict[str, Callable[[], Any]] = {
    "always_on": lambda: hexsim.always_on(NET, every=100, chip="sd855"),
    "benchmark": lambda: hexsim.benchmark(NET, chips=["sd855"], vtcm_mb=None, idle_ms=5),
    "compare": compared,
    "convert": lambda: hexsim.convert(NET),
    "decide": lambda: hexsim.decide(NET, chips=["sd8gen4"], modes="default", max_ms=5),
    "diff": lambda: hexsim.diff(NET, "shapes_mobilenet"),
    "info": lambda: hexsim.info(NET),
    "kernel": lambda: hexsim.kernel("conv", shape="8x8x64:32:3x3", chip="sd855"),
    "overview": lambda: hexsim.overview(NET, chip="sd855"),
    "partition": lambda: hexsim.partition(NET, chip="sd855"),
    "profile": lambda: hexsim.profile(NET, vtcm_mb=2),
    "throughput": lambda: hexsim.throughput(NET, chip="sd855", instances=2),
    "validate": lambda: hexsim.validate(NET, chip="sd855", explain=True),
}


def language_model(folder: Path) -> Document:
    path = folder / "config.json"
    path.write_text(json.dumps(LANGUAGE_MODEL))
    return hexsim.simulate_llm(path, context=256, prompt=32, generate=4, part_gb=1)


@pytest.mark.parametrize("name", [*MADE, "simulate_llm"])
def test_a_document_is_the_same_after_it_was_written_and_read(name: str, tmp_path: Path) -> None:
    document = language_model(tmp_path) if name == "simulate_llm" else MADE[name]()
    document.save(tmp_path / "a.json")
    read = type(document).load(tmp_path / "a.json")
    assert read.to_json() == document.to_json()
    assert (repr(read), str(read)) == (repr(document), str(document))
    assert read.to_csv() == document.to_csv()
    assert read.to_dataframe().equals(document.to_dataframe())
    assert read._repr_html_() == document._repr_html_()


def test_one_inference_is_read_from_a_benchmark_of_one() -> None:
    both = Benchmark(results=(hexsim.profile(NET), hexsim.profile(NET, chip="sd855")))
    with pytest.raises(HexsimError, match=r"^a\.json has 2 results, and one is wanted"):
        Inference.from_json(both.to_json(), "a.json")
