"""What is out, by reason: figures of one limit are one group."""

from hexsim.reports.decision.groups import out_groups
from hexsim.studies.decision import RuledOut

OUT = (
    RuledOut("axis", "sd855", "dsp", "9.5 ms, over --max-ms 5", limit=True),
    RuledOut("act16", "sd835", "dsp", "8 bits, no more", limit=False),
    RuledOut("cle", "sd855", "dsp", "12 ms, over --max-ms 5", limit=True),
    RuledOut("cle", "sd835", "dsp", "21 dB, under --min-db 30", limit=True),
    RuledOut("axis", "sd835", "dsp", "9 dB, under --min-db 30", limit=True),
)


def test_a_limit_is_one_group_from_the_nearest_to_the_furthest() -> None:
    slow, refused, noisy = out_groups(OUT)
    assert (slow.limit, slow.nearest, slow.furthest) == ("--max-ms", "9.5 ms", "12 ms")
    assert (slow.modes, slow.places) == (("axis", "cle"), ("sd855 dsp",))
    assert (refused.reason, refused.limit, refused.nearest) == ("8 bits, no more", "", "")
    assert (noisy.limit, noisy.nearest, noisy.furthest) == ("--min-db", "21 dB", "9 dB")


def test_each_is_in_one_group() -> None:
    assert sorted(len(out_group.candidates) for out_group in out_groups(OUT)) == [1, 2, 2]


def test_what_is_said_of_several_places_is_said_once() -> None:
    places = (("sd835", "dsp"), ("sd855", "dsp"), ("sd855", "aip (no HTA section)"))

    def reasons(owner: str) -> list[str]:
        out = [
            RuledOut("act16", chip, where, _refusal(where, owner.format(chip)), limit=False)
            for chip, where in places
        ]
        assert out_groups(out)[0].places == ("sd835 dsp", "sd855 dsp", "sd855 aip (no HTA section)")
        return [group.reason for group in out_groups(out)]

    assert reasons("chip {}") == ["16 bits, and the runtime has 8"]
    assert reasons("stack snpe-1.30") == ["16 bits, and the runtime of stack snpe-1.30 has 8"]


def _refusal(where: str, owner: str) -> str:
    return f"16 bits, and {where.split()[0]} of {owner} has 8"
