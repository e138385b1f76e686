"""Work in parts: their order, and what is missing for some workers."""

import random

import pytest

from hexsim.errors import HexsimError
from hexsim.studies.pool import in_order, ranges, require_libraries


def test_parts_are_yielded_in_order_as_soon_as_they_can_be() -> None:
    parts = list(ranges(23, 4))
    assert [number for part in parts for number in part] == list(range(23))
    for seed in range(5):
        given = random.Random(seed).sample(parts, len(parts))
        taken = []
        for part, total in in_order((part, sum(part)) for part in given):
            assert total == sum(part)
            taken.append(part)
        assert taken == parts
    (first, *_) = in_order((part, None) for part in parts[:1])
    assert first == (parts[0], None)


def test_what_is_missing_is_named_with_its_remedy() -> None:
    require_libraries("workers need", "distributed")
    with pytest.raises(
        HexsimError, match=r"need distributed and gone \(gone is missing\); .*sweep"
    ):
        require_libraries("workers need", "distributed", "gone")
