"""The forms of one product: which layers they become, and which of them cost the same."""

from __future__ import annotations

import pytest

from benchmarks.product_forms import FORMS, FormCost, cost

CHANNELS = 96
RELEASE, SHARED_ROWS = "qnn-2.45", "snpe-1.63"


def form(name: str, rows: int = 8, stack: str = RELEASE) -> FormCost:
    assert name in FORMS
    return cost(name, rows, stack, CHANNELS)


def types(cost: FormCost) -> set[str]:
    return {layer.type for layer in cost.layers}


def test_a_product_with_a_constant_is_a_fully_connected_layer_however_it_is_written() -> None:
    gemm, matmul = form("Gemm"), form("MatMul, constant")
    assert types(gemm) == {"fully_connected"}
    assert types(matmul) == {"fully_connected", "reshape"}
    assert gemm.longest.packets == matmul.longest.packets
    assert types(form("MatMul, two activations")) == {"matmul"}


def test_rows_in_height_or_width_cost_the_same_and_each_image_of_a_batch_a_vector() -> None:
    height, width, batch = (form(f"Conv 1x1, {axis}") for axis in ("height", "width", "batch"))
    assert height.longest.packets == width.longest.packets
    assert height.total_us == width.total_us
    assert batch.longest.packets > 2 * height.longest.packets


@pytest.mark.parametrize("name", ["Gemm", "MatMul, constant", "Conv 1x1, width"])
def test_weights_come_from_ddr_once_for_all_rows(name: str) -> None:
    single, many = form(name, 1), form(name, 64)
    weights = CHANNELS * CHANNELS
    assert weights <= single.longest.ddr_read_bytes < 2 * weights
    assert many.longest.ddr_read_bytes < 2 * weights


def test_rows_are_computed_one_after_another_where_the_release_does_so() -> None:
    each, shared = form("Gemm", 8), form("Gemm", 8, SHARED_ROWS)
    assert each.longest.packets >= 8 * form("Gemm", 1).longest.packets
    assert shared.longest.packets < each.longest.packets
