"""Recurrent: LSTM, GRU or RNN."""

from hexsim.layers import Recurrent
from hexsim.onnx_io.file.known import Array
from hexsim.onnx_io.write.graph_builder import Emitters, GraphBuilder

_OPERATORS = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN"}


def emit_recurrent(layer: Recurrent, graph: GraphBuilder) -> None:
    """Write the operator with the parameters in ONNX's order."""
    directions = layer.directions

    def by_rows(array: Array) -> Array:
        return array.reshape(len(array), directions, -1).transpose(1, 2, 0)

    def beside(array: Array) -> Array:
        return array.reshape(2, directions, -1).transpose(1, 0, 2).reshape(directions, -1)

    initial = dict(zip(layer.initial, layer.inputs[1:], strict=True))
    inputs = [
        graph.read(layer.inputs[0]),
        graph.constant(layer.weight, f"rows_{directions}", by_rows),
        graph.constant(layer.recurrence, f"rows_{directions}", by_rows),
        "" if layer.bias is None else graph.constant(layer.bias, f"onnx_{directions}", beside),
        "",
        *(graph.read(initial[state]) if state in initial else "" for state in ("hidden", "cell")),
    ]
    while not inputs[-1]:
        inputs.pop()
    late = {"linear_before_reset": 1} if layer.resets_late else {}
    result = graph.compute(
        _OPERATORS[layer.cell],
        inputs,
        hidden_size=layer.hidden,
        direction=layer.direction,
        **late,
    )
    graph.finish(result, layer.output)


EMITTERS: Emitters = {Recurrent: emit_recurrent}
