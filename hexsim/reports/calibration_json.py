"""What rows of a user's own say of a platform's constants, as JSON."""

from __future__ import annotations

import json
import math

from hexsim import __version__
from hexsim.studies.calibration.own import OwnCalibration


def calibration_json(found: OwnCalibration) -> str:
    """Return the document; times in milliseconds, errors of constants as factors."""
    document = {
        "hexsim_version": __version__,
        "chip": found.before.chip.name,
        "stack": found.before.stack.name,
        "constants": [
            {
                "stated_by": one.sheet,
                "constant": one.path,
                "unit": one.unit,
                "told": one.told,
                "before": one.before,
                "after": one.after,
                "one_sigma_factor_before": math.exp(one.error_before),
                "one_sigma_factor_after": math.exp(one.error_after),
            }
            for one in found.constants
        ],
        "rows": [
            {
                "runtime": one.row.runtime,
                "network": one.row.network,
                "model": one.row.model,
                "figure": "forward_propagate" if one.row.forward else "total_inference",
                "measured_ms": one.row.latency_ms,
                "before_ms": one.before_ms,
                "after_ms": one.after_ms,
                "left_out_ms": one.left_out_ms,
            }
            for one in found.rows
        ],
        "one_run_alone": None
        if found.one_run is None
        else {
            "median_error_of_others_before": found.one_run[0],
            "median_error_of_others_after": found.one_run[1],
        },
    }
    return json.dumps(document, indent=1) + "\n"
