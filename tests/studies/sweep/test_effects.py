"""Parts of the variance, and fronts, on tables whose answers are known."""

import itertools
from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexsim.errors import HexsimError
from hexsim.studies.sweep.analysis import effects, figure_of, front, satisfying
from hexsim.studies.sweep.space import Space
from hexsim.studies.sweep.table import PARAMETERS, RESULTS, Swept, table_of
from hexsim.texts.tables import read


def swept(latencies, a=None, b=None, per_second=None, drawn=()):
    """A sweep in which the constants a and b vary."""
    count = len(latencies)
    rows = []
    for at in range(count):
        cells = dict.fromkeys(PARAMETERS, "same")
        cells |= {"instances": 1, "idle_ms": 0.0, "vtcm_mb": None, "point": at}
        cells |= {"context": None, "block": None}
        cells |= {"outside_bounds": "", "refusal": None}
        cells |= {"a": float(a[at] if a else 0), "b": float(b[at] if b else 0)}
        cells |= dict.fromkeys(RESULTS, 1.0)
        cells["latency_ms"] = latencies[at]
        cells["inferences_per_s"] = per_second[at] if per_second else 1.0
        rows.append(cells)
    constants = {name: {"drawn": True} if name in drawn else {"values": [0.0]} for name in "ab"}
    space = read(Space, {"networks": ["same"], "constants": constants}, "a space")
    return Swept(table_of(rows), space, "test")


def pairs(effects):
    """Parts of the variance by pair."""
    return {pair.parameters: pair.part for pair in effects.together}


GRID = list(itertools.product(range(4), range(5)))
A, B = zip(*GRID, strict=True)


def test_a_product_is_divided_between_its_factors():
    shares = effects(swept([4.0**a * 2.0**b for a, b in GRID], A, B), "latency_ms")
    wanted = np.var([2.0 * a for a in range(4)]), np.var([1.0 * b for b in range(5)])
    assert shares.alone["a"] == pytest.approx(wanted[0] / sum(wanted))
    assert shares.alone["b"] == pytest.approx(wanted[1] / sum(wanted))
    assert list(shares.alone) == ["a", "b"]


def test_what_only_both_together_do_is_their_interaction():
    either = [(a, b) for a, b in itertools.product(range(2), range(2)) for _ in range(8)]
    times = [np.exp((a != b) + 1e-3 * k) for k, (a, b) in enumerate(either)]
    shares = effects(swept(times, *zip(*either, strict=True)), "latency_ms")
    assert pairs(shares)["a", "b"] > 0.95
    assert max(shares.alone.values()) < 0.05


def test_networks_differ_by_themselves():
    """One is a thousand times as fast, and a matters to the other alone."""
    grid = list(itertools.product(range(2), range(4)))
    times = [1000.0 if network else 2.0**a for network, a in grid]
    table = swept(times, [a for _, a in grid])
    names = pyarrow.array(["one", "other"]).take([network for network, _ in grid])
    at = table.table.column_names.index("network")
    table = replace(table, table=table.table.set_column(at, "network", names))
    shares = effects(table, "latency_ms")
    assert list(shares.alone) == ["a"]
    assert shares.alone["a"] == pytest.approx(0.5)
    assert pairs(shares)["network", "a"] == pytest.approx(0.5)


def test_what_goes_with_another_counts_once():
    """b follows a, as a chip's own stack does."""
    shares = effects(swept([4.0**a * 2.0**b for a, b in GRID], A, A), "latency_ms")
    assert shares.alone["a"] == pytest.approx(np.var([2 * a for a in range(4)]) / 7)
    assert shares.alone["b"] == pytest.approx(0)
    assert pairs(shares)["a", "b"] == pytest.approx(0)


def test_what_only_one_group_has_counts_what_it_changes_there():
    """Only points of a = 1 have b = 1, as only one runtime has another cut."""
    some = [(0, 0), (1, 0), (1, 1)] * 4
    for times, least, most in (
        ([8.0**a for a, _ in some], (1, 0), (1, 0)),
        ([8.0**a * 1.1**b for a, b in some], (0.98, 1e-4), (1, 0.01)),
    ):
        shares = effects(swept(times, *zip(*some, strict=True)), "latency_ms")
        for name, low, high in zip("ab", least, most, strict=True):
            assert low - 1e-9 <= shares.alone[name] <= high + 1e-9
        assert pairs(shares)["a", "b"] < 0.01


def test_more_texts_than_tenths_are_groups_of_their_own():
    table = swept([2.0 ** (at % 2) for at in range(60)])
    names = pyarrow.array([f"chip {at % 2} {at % 30}" for at in range(60)])
    at = table.table.column_names.index("chip")
    many = replace(table, table=table.table.set_column(at, "chip", names))
    assert effects(many, "latency_ms").alone["chip"] == pytest.approx(1)


def test_chance_gets_nothing():
    times = list(np.exp(np.random.default_rng(1).normal(size=2000)))
    a, b = [k % 10 for k in range(2000)], [k // 200 for k in range(2000)]
    taken, left = (effects(swept(times, a, b, drawn=d), "latency_ms") for d in ("ab", ""))
    assert max(taken.alone.values()) < 0.003 < max(left.alone.values())
    assert taken.together[0].part < 0.02 < left.together[0].part


def test_equal_times_have_no_parts():
    assert effects(swept([2.0] * 20, A, B), "latency_ms").alone == {}


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=30))
def test_a_front_is_what_nothing_beats(pairs):
    times, rates = ([float(value) for value in column] for column in zip(*pairs, strict=True))
    table = swept(times, per_second=rates)
    chosen = front(table, ["latency_ms", "inferences_per_s"])

    def beats(point, other):
        no_worse = point[0] <= other[0] and point[1] >= other[1]
        return no_worse and point != other

    best = {pair for pair in pairs if not any(beats(other, pair) for other in pairs)}
    assert {pairs[row] for row in chosen} == best
    assert len(chosen) == len(best)
    assert sorted(pairs[row][0] for row in chosen) == [pairs[row][0] for row in chosen]


def test_each_network_has_its_own_front():
    """The smallest of several networks beats all others everywhere, and says nothing of them."""
    table = swept([1.0, 2.0, 5.0, 4.0], per_second=[9.0, 8.0, 2.0, 3.0])
    at = table.table.schema.get_field_index("network")
    names = pyarrow.array(["small", "small", "large", "large"])
    table = replace(table, table=table.table.set_column(at, "network", names))
    assert front(table, ["latency_ms", "inferences_per_s"]) == [0, 3]


def test_a_front_has_a_budget(monkeypatch):
    """Where each point is better than all others in something, each is compared with all."""
    monkeypatch.setenv("HEXSIM_BUDGET", "0.001")
    rising = [float(number) for number in range(30)]
    table = swept(rising, per_second=rising)
    assert front(table, ["latency_ms"]) == [0]
    with pytest.raises(HexsimError, match="asks for 11, and the budget is 10 points that nothing"):
        front(table, ["latency_ms", "inferences_per_s"])


def test_pairs_have_a_budget(monkeypatch):
    table = swept([4.0**a * 2.0**b for a, b in GRID], A, B)
    monkeypatch.setenv("HEXSIM_BUDGET", "1e-6")
    with pytest.raises(HexsimError, match="what matters to latency_ms in 20 points asks for 1020"):
        effects(table, "latency_ms")


def test_conditions_are_joined():
    table = swept([1.0, 2.0, 3.0, 4.0], a=[1, 2, 3, 4])
    assert satisfying(table, "latency_ms < 4 and a >= 2").tolist() == [False, True, True, False]
    assert satisfying(table, "latency == 1").tolist() == [True, False, False, False]


@pytest.mark.parametrize("text", ["latency_ms", "latency_ms < fast", "< 5", "latency_ms < nan"])
def test_what_is_no_condition(text):
    with pytest.raises(HexsimError, match="is no condition"):
        satisfying(swept([1.0]), text)


def test_unknown_figures_name_the_nearest():
    with pytest.raises(HexsimError, match="did you mean latency_ms"):
        figure_of(swept([1.0]), "latncy_ms")
