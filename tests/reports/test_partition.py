"""Layers are boxes in the colours of the legend and stand apart; every edge is drawn."""

import xml.etree.ElementTree as ElementTree

from hypothesis import given

from hexsim.graph.ir import Network
from hexsim.planning.sections import automatic
from hexsim.reports.partition import partition_drawing
from hexsim.reports.svg import network_svg
from hexsim.studies.cuts import LayerTimes, Prices, survey
from tests.deployed import deployed
from tests.small_networks import networks
from tests.thorough import examples

SVG = "{http://www.w3.org/2000/svg}"


@examples(25)
@given(networks())
def test_boxes_and_edges(network: Network) -> None:
    deployment = deployed(network, "aip", "sd855")
    sections = automatic(deployment.model, deployment.platform.stack.partitioning)
    surveyed = survey(Prices(LayerTimes(deployment)), sections)
    root = ElementTree.fromstring(network_svg(*partition_drawing(surveyed)))
    groups = root.findall(f"{SVG}g")
    titles = [group.findtext(f"{SVG}title") or "" for group in groups]
    engines = {name: piece.engine for piece in surveyed.pieces for name in piece.layers}
    assert sorted(engines) == sorted(title.split(":")[0] for title in titles)
    assert all(title.endswith(engines[title.split(":")[0]]) for title in titles)
    fills = {box.attrib["fill"] for group in groups for box in group.findall(f"{SVG}rect")}
    swatches = root.findall(f"{SVG}rect[@class='swatch']")
    assert sorted(swatch.attrib["fill"] for swatch in swatches) == sorted(fills)
    corners = {
        tuple(float(box.attrib[key]) for key in ("x", "y"))
        for group in groups
        if (box := group.find(f"{SVG}rect")) is not None
    }
    assert len(corners) == len(network.layers)
    edges = sum(name in network.producers for layer in network.layers for name in layer.inputs)
    assert len(root.findall(f"{SVG}path")) == edges
