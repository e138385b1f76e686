import pytest

from hexsim.errors import HexsimError
from hexsim.int8.autotuner import AlgorithmCandidate, AutotunerCache, choose
from hexsim.int8.machine_code.features import use_vectors, wanted


def candidates(prepared, **instructions):
    """Candidates that note in `prepared` which of them packs weights."""

    def prepare(name):
        prepared.append(name)
        return name

    return [
        AlgorithmCandidate(n, count, lambda n=n: prepare(n)) for n, count in instructions.items()
    ]


def never(prepared):
    raise AssertionError("measured")


def test_fewest_instructions_need_no_measurement():
    prepared = []
    of_two = candidates(prepared, pairs=4, dots=1)
    assert choose(of_two, "layer", never, AutotunerCache(None)) == "dots"
    assert prepared == ["dots"]


@pytest.mark.parametrize(("seconds", "fastest"), [([1e-3, 2e-3], "guarded"), ([2, 1], "pairs")])
def test_those_near_the_best_are_timed_once(seconds, fastest):
    cache, prepared = AutotunerCache(None), []
    near = candidates(prepared, portable=16, pairs=4, guarded=3.8)
    assert choose(near, "layer", lambda of: seconds, cache) == fastest
    assert prepared == ["guarded", "pairs"]
    assert choose(near, "layer", never, cache) == fastest
    assert prepared == ["guarded", "pairs", fastest]


def test_another_layer_and_other_weights_are_other_questions():
    cache, prepared = AutotunerCache(None), []
    near = candidates(prepared, pairs=4, guarded=3.8)
    assert choose(near, "layer", lambda of: [1, 2], cache) == "guarded"
    assert choose(near, "another", lambda of: [2, 1], cache) == "pairs"
    packed_otherwise = candidates(prepared, pairs=4, guarded=3.7)
    assert choose(packed_otherwise, "layer", lambda of: [2, 1], cache) == "pairs"
    assert choose(near, "layer", never, cache) == "guarded"


def test_an_answer_that_is_no_candidate_is_measured_again():
    cache = AutotunerCache(None)
    cache.store("layer: guarded 3.80, pairs 4.00", "dots", "")
    near = candidates([], pairs=4, guarded=3.8)
    assert choose(near, "layer", lambda of: [2, 1], cache) == "pairs"


def test_weights_are_counted_only_where_that_can_matter():
    def uncounted():
        raise AssertionError("counted")

    far = AlgorithmCandidate("guarded", 2.5, lambda: "guarded", uncounted)
    near = AlgorithmCandidate("dots", 0.5, lambda: "dots", lambda: 1.0)
    assert choose([far, near], "layer", never, AutotunerCache(None)) == "dots"


def test_counted_weights_decide():
    pairs = AlgorithmCandidate("pairs", 4, lambda: "pairs")
    guarded = AlgorithmCandidate("guarded", 2.5, lambda: "guarded", lambda: 6.0)
    assert choose([guarded, pairs], "layer", never, AutotunerCache(None)) == "pairs"


def test_an_algorithm_in_great_doubt_lets_others_be_timed():
    sure = AlgorithmCandidate("guarded", 2.5, lambda: "guarded")
    doubtful = AlgorithmCandidate("pairs", 1, lambda: "pairs", doubt=4)
    assert choose([sure, doubtful], "layer", lambda of: [2, 1], AutotunerCache(None)) == "guarded"


def test_unknown_choice_is_refused(monkeypatch):
    monkeypatch.setenv("HEXSIM_KERNELS", "fast")
    for ask in (wanted, use_vectors):
        with pytest.raises(HexsimError, match=r"HEXSIM_KERNELS is 'fast'.* portable, pairs, "):
            ask()


def test_nothing_is_wanted_unless_said(monkeypatch):
    monkeypatch.delenv("HEXSIM_KERNELS", raising=False)
    assert wanted() is None
    monkeypatch.setenv("HEXSIM_KERNELS", "")
    assert wanted() is None
