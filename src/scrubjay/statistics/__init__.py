"""The few tests that several parts need, each with its sides, its edge cases and its source.

Over scipy and statsmodels, which come with `scrubjay[experiments]` and are imported when first used; the two-proportion
test, which an agent asks while it lives, needs neither.
"""

from scrubjay.statistics.medians import paired_medians
from scrubjay.statistics.proportions import binomial_test, fisher, mcnemar, two_proportions, wilson
from scrubjay.statistics.results import Result
from scrubjay.statistics.several import MeanStd, holm, mean_std

__all__ = [
    "MeanStd", "Result", "binomial_test", "fisher", "holm", "mcnemar", "mean_std", "paired_medians", "two_proportions",
    "wilson",
]  # fmt: skip
