import pytest

from hexsim.int8.machine_code import features


@pytest.mark.parametrize(
    ("reported", "vectors", "dots"),
    [
        ("+sse2", False, False),
        ("-avx2", False, False),
        ("+avx2,-avxvnni", True, False),
        ("+avx2,+avxvnni", True, True),
        ("+avx2,+avx512vnni,+avx512vl", True, True),
        ("+avx2,+avx512vnni", True, False),
    ],
)
def test_features_tell_what_there_is(monkeypatch, reported, vectors, dots):
    monkeypatch.setattr(features, "compiled_for", lambda: ("linux", "cpu", reported))
    assert features.has_vectors() == vectors
    assert features.has_dots() == dots


def test_features_of_registers_of_64_bytes(monkeypatch):
    monkeypatch.setattr(features, "compiled_for", lambda: ("linux", "cpu", "+avx2,+avx512vbmi"))
    assert features.has_byte_permutes()
    monkeypatch.setattr(features, "compiled_for", lambda: ("linux", "cpu", "+avx2,-avx512vbmi"))
    assert not features.has_byte_permutes()
