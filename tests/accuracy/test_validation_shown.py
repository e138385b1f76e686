"""What a notebook shows of a validation: a row per tensor."""

from hexsim.accuracy.classification import Hits
from hexsim.accuracy.layer_errors import LayerError
from hexsim.accuracy.validation import Validation

ERROR = LayerError(
    "<b>conv", "Convolution", "y", "dsp", 30.5, 0.999, 0.25, 0.01, -1.0, 1.0, None, 0.0, ()
)


def test_a_row_per_tensor() -> None:
    found = Validation(Hits(4, 3), False, 28.25, (ERROR,))
    assert found.sheet().rows == (("<b>conv", "Convolution", "y", 30.5, 0.999, 0.25),)
    assert repr(found) == "<Validation: SQNR of the outputs 28.2 dB, 4 inputs>"
    markup = found._repr_html_()
    assert "<b>conv" not in markup
    assert "30.5" in markup
