"""The paper's five deep learners, ready to use by name: a small MLP that takes its width from the first batch."""

from spanwise.deep import CORAL, EWC, IRM, SI, Adam, TorchLearner
from spanwise.deep.networks.mlp import MLP
from spanwise.deep.objectives.erm import Objective
from spanwise.deep.penalties.penalty import Penalty


def ft() -> TorchLearner:
    """Fine-tuning: plain cross-entropy on each round."""
    return _small()


def si() -> TorchLearner:
    """Fine-tuning held back by synaptic intelligence."""
    return _small(penalty=SI())


def ewc() -> TorchLearner:
    """Fine-tuning held back by elastic weight consolidation."""
    return _small(penalty=EWC())


def irm() -> TorchLearner:
    """Invariant risk minimisation over nested groups of the last rounds."""
    return _small(objective=IRM())


def coral() -> TorchLearner:
    """Correlation alignment over nested groups of the last rounds."""
    return _small(objective=CORAL())


def _small(objective: Objective | None = None, penalty: Penalty | None = None) -> TorchLearner:
    return TorchLearner(
        MLP, optimizer=Adam(lr=3e-3), objective=objective, penalty=penalty, steps=20, batch_size=32, device="cpu"
    )
