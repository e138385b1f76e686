import numpy as np

from benchmarks.last_bits import next_floats, row, shaken
from hexsim.dlc.loading import load
from hexsim.results.accuracy import Accuracy
from tests.studies.decision.decided import write_files


def test_every_float_goes_to_one_of_its_neighbours():
    values = np.float32([1, -1, 0, 1e-30, 3.5] * 40)
    neighbours = next_floats(values, np.random.default_rng(0))
    assert neighbours.dtype == np.float32
    assert (neighbours != values).all()
    above, below = (np.nextafter(values, np.float32(end)) for end in (np.inf, -np.inf))
    assert set((neighbours == above).tolist()) == {True, False}
    assert ((neighbours == above) | (neighbours == below)).all()


def test_only_weights_are_shaken_and_the_first_draw_is_the_network(tmp_path):
    write_files(tmp_path)
    network = load(str(tmp_path / "m.onnx")).network
    assert network.constants
    for seed in (0, 1):
        other = shaken(network, seed)
        assert other.layers == network.layers
        for name, constant in network.constants.items():
            same = np.array_equal(other.constants[name].value(), constant.value())
            assert same == (seed == 0), name


def agreed(db: float, top1: int, margin: float) -> Accuracy:
    return Accuracy(
        compared_on="", inputs=4, sqnr_db=db, top1_agreement=top1, top1_margin_ratio=margin
    )


def test_a_row_has_the_ends_of_what_was_found():
    agreements = [
        [agreed(db, 4, 1.0), agreed(db + 20, top1, margin)]
        for db, top1, margin in ((30.04, 3, 0.5), (31.06, 4, 0.25), (30.5, 3, 1.0))
    ]
    assert row("m", agreements) == "| m | 30.0 to 31.1 | 50.0 to 51.1 | 3/4 or 4/4 | 25% to 100% |"
