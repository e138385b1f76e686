"""How sure an order of runtimes is: draw by draw, and against what was measured."""

from msgspec.structs import replace

from hexsim.reports.summary import orders_text
from hexsim.results.costs import Draws, Figures
from hexsim.studies.uncertainty import orders
from tests.charts import LAYERS, case

DSP = case(*LAYERS)


def drawn(*totals_us: float) -> Draws:
    ends = (min(totals_us), max(totals_us))
    return Draws(
        count=len(totals_us),
        total_inference_us=ends,
        forward_propagate_us=ends,
        totals_us=totals_us,
    )


def test_an_order_counts_draw_by_draw_and_a_tie_is_half() -> None:
    first = replace(DSP, draws=drawn(1, 5, 3, 2))
    other = replace(DSP, runtime="gpu", draws=drawn(2, 4, 3, 9), total_inference_us=1e6)
    (order,) = orders([other, first])
    assert (order.first, order.second, order.share, order.draws) == ("dsp", "gpu", 0.625, 4)
    assert orders([first, DSP]) == (), "constants were not drawn for both"


def test_an_order_tells_that_it_was_measured_the_other_way_round() -> None:
    measured = Figures(total_inference=(23.0,))
    dsp = replace(DSP, draws=drawn(1.0), measured_ms=measured)
    gpu = replace(dsp, runtime="gpu", measured_ms=Figures(total_inference=(25.0,)))
    assert orders_text(orders([dsp, gpu])) == "net: dsp before gpu in 50% of draws"
    assert orders_text(orders([gpu, dsp])).endswith("50% of draws (measured the other way round)")
