"""The line that sums up overrides: how many met which fate, or that nobody asked."""

from hexsim.quantization.overrides import (
    NO_OVERRIDES,
    FloatOverride,
    KeyOutcome,
    Overrides,
    OverrideUse,
)

HELD = Overrides({name: FloatOverride(16) for name in "abc"})


def test_a_file_without_overrides_has_nothing_to_tell() -> None:
    assert OverrideUse.of(NO_OVERRIDES) is None


def test_nobody_asked() -> None:
    use = OverrideUse.of(HELD)
    assert use == OverrideUse(3)
    assert str(use) == ("overrides of the file not applied: 3 (override_params=True applies them)")


def test_each_fate_is_counted() -> None:
    fates = ("applied", "ignored", "applied")
    outcomes = [
        KeyOutcome(key, "activation", "override", fate)  # type: ignore[arg-type]
        for key, fate in zip("abc", fates, strict=True)
    ]
    use = OverrideUse.of(HELD, outcomes)
    assert use == OverrideUse(3, 2, 1, 0)
    assert str(use) == "overrides of the file: 2 applied, 1 ignored, 0 unmatched"
