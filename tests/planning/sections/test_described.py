"""Sections in words and numbers."""

from dataclasses import replace

from hexsim.planning.sections.described import hta_sections
from hexsim.quantization.model import HtaSection, Model
from tests.dlc.made import small_network, with_encodings


def test_ends_ids_and_shares() -> None:
    model = with_encodings(small_network())
    names = tuple(layer.name for layer in model.network.layers)
    coded = replace(model, hta=(HtaSection("sd855", names[1:3], b"1234"),))
    (section,) = hta_sections(coded)
    assert (section.ids, section.first, section.last) == ("2-3", names[1], names[2])
    assert (section.layers, section.record_bytes) == (2, 4)
    assert section.inputs == (model.network.layers[0].output,)
    assert section.outputs == (model.network.layers[2].output,)
    second = model.network.macs(model.network.layers[1])
    assert section.macs == second
    assert section.mac_share == second / model.network.total_macs


def test_models_without_sections() -> None:
    assert (
        hta_sections(Model(small_network())) == hta_sections(with_encodings(small_network())) == []
    )
