"""What user buffers hold: floats of either width, codes of a static range or of their own."""

from dataclasses import replace

import numpy as np
import pytest

from hexsim.errors import HexsimError
from hexsim.execution.user_buffers import KINDS, Buffer, Buffered, BufferKind, buffers
from hexsim.quantization.encodings import Encoding
from hexsim.quantization.model import Model
from tests.accuracy import culprits

VALUES = np.array([-1.8, -1.0, 0.0, 0.5], np.float32)


def test_codes_of_the_guide() -> None:
    """[-1.8, 0.5]: codes 0, 89, 200, 255 (SNPE's reference guide)."""
    encoding = Encoding.from_range(-1.8, 0.5)
    buffer = Buffer(8, True, encoding)
    assert buffer.write(VALUES).tolist() == [0, 89, 200, 255]
    held = buffer.hold(VALUES)
    np.testing.assert_allclose(held, [-1.8039, -1.0012, 0, 0.4961], atol=1e-4)
    np.testing.assert_array_equal(buffer.read(buffer.write(VALUES)), held)
    np.testing.assert_array_equal(Buffer(8, True).hold(VALUES), held)
    assert buffer.type == "<u1"


def test_codes_of_inputs_are_those_of_a_subnet() -> None:
    """A tie gets the lower code on its way in (docs/reference/arithmetic.md)."""
    buffer = Buffer(8, True, Encoding(8, 0.0, 255.0, 1.0, 0))
    values = np.array([2.5], np.float32)
    assert (buffer.take(values).tolist(), buffer.hold(values).tolist()) == ([2.0], [3.0])
    wide = Buffer(16, True, Encoding(16, 0.0, 65535.0, 1.0, 0))
    assert wide.take(values).tolist() == wide.hold(values).tolist() == [3.0]


def test_half_floats() -> None:
    buffer = Buffer(16)
    values = np.array([1 / 3, 1e6, -1e6], np.float32)
    assert buffer.hold(values).tolist() == [float(np.float16(1 / 3)), 65504, -65504]
    assert buffer.type == "<f2"
    assert Buffer().hold(values) is values


def test_each_tensor_has_its_buffer() -> None:
    model = culprits.quantized()
    encoding = model.encoding("in")
    assert isinstance(encoding, Encoding)
    assert buffers(model, ["in"], KINDS["auto"]) == {"in": Buffer(8, True, encoding)}
    assert buffers(model, ["in"], KINDS["tf8"], static=False) == {"in": Buffer(8, True)}
    assert buffers(model, ["in"], KINDS["float16"]) == {"in": Buffer(16)}
    (wide,) = buffers(model, ["in"], KINDS["tf16"]).values()
    assert wide.encoding == Encoding.from_range(encoding.min, encoding.max, 16)


def test_a_float_model_has_no_codes() -> None:
    floats = Model(culprits.network())
    assert buffers(floats, ["in"], KINDS["auto"]) == {"in": Buffer()}
    with pytest.raises(HexsimError, match="a tf8 buffer of tensor 'in' needs its encoding"):
        buffers(floats, ["in"], KINDS["tf8"])


def test_signed_encodings_give_unsigned_codes() -> None:
    model = culprits.quantized()
    symmetric = Encoding.symmetric_of(1.0)
    signed = replace(model, activations={**model.activations, "in": symmetric})
    (buffer,) = buffers(signed, ["in"], KINDS["tf8"]).values()
    assert buffer.write(np.zeros(1, np.float32)).tolist() == [128]


def test_native_sides() -> None:
    encoding = Encoding.from_range(-1.8, 0.5)

    class Same:
        def run_each(self, feeds):
            return ({"out": inputs["in"]} for inputs in feeds)

    buffer = Buffer(8, True, encoding)
    codes = np.array([0, 89, 200, 255], np.float32)
    through = Buffered(Same(), {"in": buffer}, {"out": buffer}, frozenset({"inputs"}))
    (outputs,) = through.run_each([{"in": codes}])
    np.testing.assert_array_equal(outputs["out"], buffer.read(codes))
    assert through.output_types == {}
    both = replace(through, native=frozenset({"inputs", "outputs"}))
    (outputs,) = both.run_each([{"in": codes}])
    np.testing.assert_array_equal(outputs["out"], codes)
    assert both.output_types == {"out": "<u1"}


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
@pytest.mark.parametrize(("dtype", "stored"), [("int32", "<i4"), ("bool", "|u1"), ("uint8", "|u1")])
def test_integers_stay_as_they_are(kind: BufferKind, dtype: str, stored: str) -> None:
    """2049 is no half, and no code."""
    network = culprits.network()
    tensors = {**network.tensors, "in": replace(network.tensors["in"], dtype=dtype)}
    (buffer,) = buffers(Model(replace(network, tensors=tensors)), ["in"], kind).values()
    assert buffer.type == stored
    values = np.array([0, 1, 1, 2049 if dtype == "int32" else 0], dtype)
    for way in (buffer.take, buffer.hold, buffer.read, buffer.write):
        assert way(values) is values
