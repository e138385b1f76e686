"""A calibration with a user's own measurements, as JSON."""

from __future__ import annotations

import json
import math

from hexsim import __version__
from hexsim.studies.calibration.own import OwnCalibration


def calibration_json(calibration: OwnCalibration) -> str:
    """Return the document; times in milliseconds, errors of constants as factors."""
    document = {
        "hexsim_version": __version__,
        "chip": calibration.before.chip.name,
        "stack": calibration.before.stack.name,
        "constants": [
            {
                "stated_by": constant.sheet,
                "constant": constant.path,
                "unit": constant.unit,
                "told": constant.told,
                "before": constant.before,
                "after": constant.after,
                "one_sigma_factor_before": math.exp(constant.error_before),
                "one_sigma_factor_after": math.exp(constant.error_after),
            }
            for constant in calibration.constants
        ],
        "rows": [
            {
                "runtime": row.row.runtime,
                "network": row.row.network,
                "model": row.row.model,
                "figure": "forward_propagate" if row.row.forward else "total_inference",
                "measured_ms": row.row.latency_ms,
                "before_ms": row.before_ms,
                "after_ms": row.after_ms,
                "left_out_ms": row.left_out_ms,
            }
            for row in calibration.rows
        ],
        "one_run_alone": None
        if calibration.one_run is None
        else {
            "median_error_of_others_before": calibration.one_run[0],
            "median_error_of_others_after": calibration.one_run[1],
        },
    }
    return json.dumps(document, indent=1) + "\n"
