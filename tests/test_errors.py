"""Sentences stay readable whatever the names in them are."""

from hexsim.errors import HexsimError


def test_only_words_that_were_made_long_are_shortened() -> None:
    sentence = f"layer '{'y' * 5000}' reads '/a/{'path' * 50}', which nobody writes"
    expected = f"layer '{'y' * 200}...' reads '/a/{'path' * 50}', which nobody writes"
    assert str(HexsimError(sentence)) == expected
    assert str(HexsimError("short words stay " * 100)).count("stay") == 100
    assert str(HexsimError(f"no '{'a b' * 500}' here")) == f"no '{('a b' * 67)[:200]}...' here"
