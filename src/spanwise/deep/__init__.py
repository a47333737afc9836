"""Deep networks as learners: one training loop, objectives and penalties to plug into it."""

from spanwise.errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise MissingExtraError("torch", "torch") from error

from spanwise.deep.learner import TorchLearner
from spanwise.deep.objectives.coral import CORAL
from spanwise.deep.objectives.erm import CrossEntropy
from spanwise.deep.objectives.irm import IRM
from spanwise.deep.optimizers import SGD, Adam, AdamW, StepDecay
from spanwise.deep.penalties.ewc import EWC
from spanwise.deep.penalties.si import SI
from spanwise.engines.stacked import Stacking

__all__ = ["CORAL", "EWC", "IRM", "SGD", "SI", "Adam", "AdamW", "CrossEntropy", "Stacking", "StepDecay", "TorchLearner"]
