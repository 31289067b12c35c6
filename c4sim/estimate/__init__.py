"""Estimates from replications: arrays in, small frozen result objects out.

Nothing here knows what is simulated.  Intervals are ``None`` where the data do not support one
(a single replication), never NaN.  Quantiles of Student's t and of the normal, beta and gamma laws
come from ``scipy.special``, as ``scipy.stats`` takes most of a second to import.
"""

from c4sim.estimate.counts import mtbf_interval, poisson_interval, share_interval
from c4sim.estimate.equivalence import (
    Decision,
    Equivalence,
    equivalence_margin,
    equivalence_test,
    replications_for_equivalence,
)
from c4sim.estimate.family import bonferroni, false_alarms_at, family_standard_errors, holm
from c4sim.estimate.intervals import (
    Estimate,
    mean_interval,
    prediction_interval,
    quantile_interval,
    replications_for_half_width,
)
from c4sim.estimate.moments import Moments
from c4sim.estimate.paired import paired_difference, variance_ratio
from c4sim.estimate.ratios import ratio_of_sums

__all__ = [
    "Decision",
    "Equivalence",
    "Estimate",
    "Moments",
    "bonferroni",
    "equivalence_margin",
    "equivalence_test",
    "false_alarms_at",
    "family_standard_errors",
    "holm",
    "mean_interval",
    "mtbf_interval",
    "paired_difference",
    "poisson_interval",
    "prediction_interval",
    "quantile_interval",
    "ratio_of_sums",
    "replications_for_equivalence",
    "replications_for_half_width",
    "share_interval",
    "variance_ratio",
]
