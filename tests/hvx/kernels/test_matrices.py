"""What a product of computed matrices costs: packing each time, products over all workers."""

from dataclasses import replace

import pytest

from hexsim.hvx.kernels import kernel_streams, node_work
from hexsim.planning.plan import KernelCall
from hexsim.studies.probes import kernel_call
from hexsim.timing.memory import Traffic
from hexsim.timing.work import NodeWork
from tests.hvx.kernels.test_kernels import TARGET


def work_of(shape: str, *, transposed: bool = False) -> tuple[KernelCall, NodeWork]:
    call = kernel_call("matmul", shape)
    if transposed:
        first, (batch, depth, columns) = call.operands
        layer = call.layer.replace(transposed=True)
        call = replace(call, layer=layer, operands=(first, (batch, columns, depth)))
    return call, node_work(call, TARGET, Traffic(1000, 500))


def test_products_dominate_and_packing_is_paid() -> None:
    _, work = work_of("12x196x64:196")
    *_, pack, products, _ = work.stages
    assert sum(item.packets for item in pack.items) < sum(item.packets for item in products.items)
    assert (work.read_bytes, work.write_bytes) == (1000, 500)


@pytest.mark.parametrize("shape", ["196x64:16", "64x32:32"])
def test_few_columns_still_give_all_workers_rows(shape: str) -> None:
    _, work = work_of(shape)
    products = work.stages[-2]
    assert products.jobs == TARGET.workers


@pytest.mark.parametrize("shape", ["12x196x64:196", "64x32:32"])
def test_operands_of_16_bits_are_split_and_packed_twice(shape: str) -> None:
    call, narrow = work_of(shape)
    wide_call = replace(call, activation_bits=16)
    wide = node_work(wide_call, TARGET, Traffic(1000, 500))
    names = [kernel.name for kernel in kernel_streams(wide_call, TARGET)]
    assert names[0] == "split in bytes"
    assert "matrix product, 16 bits" in names
    assert wide.cost_model == "kernel"
    assert len(wide.stages) == len(narrow.stages) + 2
    assert 2 * narrow.packets < wide.packets < 4 * narrow.packets + 200
    assert (wide.read_bytes, wide.write_bytes) == (1000, 500)


def test_a_transposed_operand_is_turned_over() -> None:
    call, work = work_of("12x196x64:196", transposed=True)
    assert kernel_streams(call, TARGET)[0].name == "turn rows over"
    assert work.cost_model == "kernel"
