"""A datasheet written and read again is the same one."""

import tomllib
from pathlib import Path

import pytest
from msgspec import structs

from hexsim.datasheets import chips, stacks
from hexsim.datasheets.datasheet import Datasheet, DatasheetTable, Shelf, datasheet_text, recorded
from hexsim.datasheets.quantity import Bytes, Hertz
from hexsim.errors import HexsimError

CLOCK = '{ value = 1e9, unit = "Hz", source = "a book", confidence = "documented" }'
SIZE = '{ value = 64, unit = "B", source = "a guess", confidence = "assumed", low = 32, high = 96 }'


class Core(DatasheetTable):
    clock_hz: Hertz
    size_bytes: Bytes


class Box(Datasheet):
    core: Core
    extra: Core | None = None


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf[Box]:
    (tmp_path / "shared.toml").write_text(
        f"[core]\nsize_bytes = {SIZE}\n[extra]\nsize_bytes = {SIZE}\n"
    )
    (tmp_path / "plain.toml").write_text(
        f'name = "plain"\ntitle = "A box"\n[core]\nclock_hz = {CLOCK}\n'
    )
    (tmp_path / "full.toml").write_text(
        f'name = "full"\ntitle = "B"\n[core]\nclock_hz = {CLOCK}\n[extra]\nclock_hz = {CLOCK}\n'
    )
    return Shelf(Box, "box", tmp_path)


def test_names_leave_out_what_is_shared(shelf: Shelf[Box]) -> None:
    assert shelf.names() == ("full", "plain")


def test_shared_constants_fill_the_tables_of_a_file_and_add_no_optional_one(
    shelf: Shelf[Box],
) -> None:
    plain, full = shelf.load("plain"), shelf.load("full")
    assert plain.core.size_bytes == 64
    assert plain.extra is None
    assert full.extra is not None
    assert full.extra.size_bytes == 64


def test_a_file_overrules_what_is_shared(shelf: Shelf[Box], tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        (tmp_path / "plain.toml").read_text() + f"size_bytes = {SIZE.replace('64', '40')}\n"
    )
    assert shelf.load(mine).core.size_bytes == 40


def test_a_shipped_datasheet_is_read_once_and_a_file_of_the_user_each_time(
    shelf: Shelf[Box], tmp_path: Path
) -> None:
    mine, shipped = tmp_path / "plain.toml", shelf.load("plain")
    assert shelf.load(mine) == shipped
    mine.write_text(mine.read_text().replace("1e9", "2e9"))
    assert shelf.load("plain") is shipped
    assert shelf.load(mine).core.clock_hz == 2e9


def test_a_changed_copy_leaves_what_was_loaded_as_it_was(shelf: Shelf[Box], tmp_path: Path) -> None:
    shipped, other = shelf.load("plain"), shelf.load(tmp_path / "plain.toml")
    before = dict(shipped.quantities())
    changed = shipped.with_value("core.size_bytes", 48)
    assert dict(changed.quantities())["core.size_bytes"].value == 48
    assert dict(shelf.load("plain").quantities()) == before
    assert shipped == other, "that constants were listed makes no difference"


def test_a_sheet_takes_what_it_does_not_state_from_the_one_it_is_like(
    shelf: Shelf[Box], tmp_path: Path
) -> None:
    sister = tmp_path / "sister.toml"
    size = SIZE.replace("64", "40")
    sister.write_text(f'name = "s"\ntitle = "S"\nlike = "full"\n[core]\nsize_bytes = {size}\n')
    box = shelf.load(sister)
    assert (box.core.size_bytes, box.core.clock_hz, box.title) == (40, 1e9, "S")
    assert box.extra is not None
    sister.write_text('name = "s"\ntitle = "S"\nlike = "fool"\n')
    with pytest.raises(HexsimError, match="unknown box 'fool'; did you mean full"):
        shelf.load(sister)


def test_half_a_constant_is_not_completed_from_what_is_shared(
    shelf: Shelf[Box], tmp_path: Path
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text((tmp_path / "plain.toml").read_text() + 'size_bytes = { unit = "B" }\n')
    with pytest.raises(HexsimError, match=r"key 'core\.size_bytes\.value' is missing"):
        shelf.load(mine)


def test_quantities_give_every_constant_with_its_owner(shelf: Shelf[Box]) -> None:
    quantities = dict(shelf.load("plain").quantities())
    assert list(quantities) == ["core.clock_hz", "core.size_bytes"]
    assert quantities["core.clock_hz"].source == "a book"
    assert (quantities["core.size_bytes"].low, quantities["core.size_bytes"].high) == (32, 96)


def test_with_value_returns_a_changed_copy_that_names_the_caller(shelf: Shelf[Box]) -> None:
    before = shelf.load("plain")
    after = before.with_value("core.size_bytes", 128)
    assert (before.core.size_bytes, after.core.size_bytes) == (64, 128)
    assert after.core.clock_hz == before.core.clock_hz
    assert dict(after.quantities())["core.size_bytes"].source == "set by the caller"
    assert dict(before.quantities())["core.size_bytes"].source == "a guess"
    assert before.with_value("core.size_bytes", 127.6).core.size_bytes == 128
    assert after != before


def test_with_value_refuses_unknown_paths_and_bad_values(shelf: Shelf[Box]) -> None:
    box = shelf.load("plain")
    with pytest.raises(HexsimError, match=r"'core\.size'; did you mean core\.size_bytes"):
        box.with_value("core.size", 1)
    with pytest.raises(HexsimError, match=r"plain: key 'core\.size_bytes' is -1\.0"):
        box.with_value("core.size_bytes", -1)


def test_a_file_that_cannot_be_read_is_named(shelf: Shelf[Box], tmp_path: Path) -> None:
    with pytest.raises(HexsimError, match=r"cannot read datasheet .*gone\.toml"):
        shelf.load(tmp_path / "gone.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text('name = "x"\ntitle = = 3\n')
    with pytest.raises(HexsimError, match=r"broken\.toml: not valid TOML: .*line 2"):
        shelf.load(broken)
    with pytest.raises(HexsimError, match="unknown box 'plane'; did you mean plain"):
        shelf.load("plane")


def test_a_sheet_cannot_be_changed(shelf: Shelf[Box]) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        shelf.load("plain").core.size_bytes = 1  # type: ignore[misc]


def test_a_shelf_may_have_nothing_shared(tmp_path: Path) -> None:
    text = f'name = "lone"\ntitle = "B"\n[core]\nclock_hz = {CLOCK}\nsize_bytes = {SIZE}\n'
    (tmp_path / "lone.toml").write_text(text)
    assert Shelf(Box, "box", tmp_path).load("lone").core.size_bytes == 64


@pytest.fixture
def listed(shelf: Shelf[Box], tmp_path: Path) -> Shelf[Box]:
    """The shelf with two datasheets more, in one file; the second misspells a key."""
    (tmp_path / "listed.toml").write_text(
        f'[small]\ntitle = "C"\n[small.core]\nclock_hz = {CLOCK}\n'
        f'[wrong]\ntitel = "D"\n[wrong.core]\nclock_hz = {CLOCK}\n'
    )
    return shelf


def test_listed_datasheets_are_named_and_loaded_like_files(listed: Shelf[Box]) -> None:
    assert listed.names() == ("full", "plain", "small", "wrong")
    small = listed.load("small")
    assert (small.name, small.title, small.core.size_bytes, small.extra) == ("small", "C", 64, None)
    assert small == listed.load("small")
    with pytest.raises(HexsimError, match="unknown box 'smal'; did you mean small"):
        listed.load("smal")
    with pytest.raises(HexsimError, match="unknown box 'listed'; known: full, plain, small, wrong"):
        listed.load("listed")


def test_a_mistake_in_a_listed_datasheet_is_reported_with_file_and_name(listed: Shelf[Box]) -> None:
    with pytest.raises(HexsimError, match=r"listed\.toml, \[wrong\]: key 'titel' is not known"):
        listed.load("wrong")


def test_a_datasheet_of_the_user_is_a_file_with_one(listed: Shelf[Box], tmp_path: Path) -> None:
    mine = tmp_path / "small.toml"
    mine.write_text((tmp_path / "plain.toml").read_text().replace("A box", "Mine"))
    assert listed.load(mine).title == "Mine"
    with pytest.raises(HexsimError, match=r"listed\.toml: key 'small' is not known"):
        listed.load(tmp_path / "listed.toml")


def test_recorded_names_the_constants_that_were_read(shelf: Shelf[Box]) -> None:
    full, other = shelf.load("full"), shelf.load("plain")
    assert full.extra is not None
    with recorded() as reads:
        _ = full.core.clock_hz, full.extra.size_bytes, full.title
    _ = full.core.size_bytes
    assert reads.of(full) == {"core.clock_hz", "extra.size_bytes"}
    assert reads.of(other) == frozenset()


def test_what_is_counted_is_rounded() -> None:
    chip = chips.load("sd865")
    assert chip.with_value("dsp.l2_bytes", 1000.4).dsp.l2_bytes == 1000
    assert chip.with_value("dsp.hvx.contexts", 3.6).dsp.hvx.contexts == 4
    assert chip.with_value("memory.efficiency", 0.61).memory.efficiency == 0.61


def test_a_sheet_is_restated_with_its_owners() -> None:
    chip = chips.load("sd865")
    stated = dict(chip.quantities())
    own = structs.replace(stated["memory.efficiency"], value=0.7, source="mine")
    quantities = dict(chip.restated({"memory.efficiency": own}).quantities())
    assert quantities.pop("memory.efficiency") == own
    assert quantities == {
        path: quantity for path, quantity in stated.items() if path != "memory.efficiency"
    }
    chip.tree["memory"].clear()
    assert dict(chip.quantities()) == stated


SHEETS: list[Datasheet] = [
    *(chips.load(name) for name in chips.names()),
    *(stacks.load(name) for name in stacks.names()),
]


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_shipped_sheet_comes_back(sheet: Datasheet) -> None:
    text = datasheet_text(sheet, sheet.title)
    assert tomllib.loads(text) == sheet.tree


def test_a_sheet_that_was_written_is_loaded_by_its_path(tmp_path: Path) -> None:
    moved = stacks.load("snpe-1.30").with_value("dispatch.node_clk", 1234.5)
    file = tmp_path / "mine.toml"
    file.write_text(datasheet_text(moved, 'of "mine"'), encoding="utf-8")
    read = stacks.load(file)
    assert read.dispatch.node_clk == 1234.5
    assert (read.name, read.title) == ("snpe-1.30", 'of "mine"')
    assert list(read.quantities()) == list(moved.quantities())
