"""The losses of an update: behaviour cloning on successes, preferences over pairs, and the penalty of EWC.

L = L_BC(D_succ) + lambda L_DPO(D_cpair), over the weights of one adapter (PEAM; our copy of the paper lacks the
formulas, these are rebuilt from its words and from the sources named below). They take log-probabilities, no model.
"""

from __future__ import annotations

from typing import Any

__all__ = ["cloning", "preference"]


def cloning(log_probabilities: Any, tokens: Any) -> Any:
    """L_BC: minus the mean log-probability of a token of the successes. Both are (B,): of completions, of tokens."""
    return -log_probabilities.sum() / tokens.sum()


def preference(chosen: Any, rejected: Any, chosen_before: Any, rejected_before: Any, beta: float) -> Any:
    """L_DPO: the mean of -log sigmoid(beta ((chosen - chosen_before) - (rejected - rejected_before))).

    All are (B,), summed log-probabilities of completions; those `before` are the reference policy's, which is the
    fast policy before this cycle, frozen. So it is ln 2 before the first step of any cycle.
    Source: Rafailov et al., Direct Preference Optimization (2023), equation 7.
    """
    from torch.nn import functional

    return -functional.logsigmoid(beta * ((chosen - chosen_before) - (rejected - rejected_before))).mean()
