"""spanwise makes any online learner choose its own attention span."""

from spanwise._version import __version__
from spanwise.adapters.functions import FunctionLearner
from spanwise.core.awe import AWE, Algorithm, EnsembleOrBest
from spanwise.core.evidence import HoldOut, Prequential
from spanwise.core.loop import Threaded
from spanwise.core.refine import Doubling, refine_accuracy
from spanwise.core.report import RoundReport
from spanwise.core.scheme import Scheme
from spanwise.core.spans import MRI, Span
from spanwise.learner import Learner, Stateful
from spanwise.schemes.cbce import CBCE
from spanwise.schemes.choices import Best, Majority, Uniform
from spanwise.schemes.covers import FLH, Geometric, OneResolution, ROnly
from spanwise.schemes.plain import Plain, PlainEnsemble
from spanwise.schemes.saol import SAOL
from spanwise.schemes.single_resolution import SingleResolution
from spanwise.schemes.spanwise import Spanwise
from spanwise.schemes.vote import Vote
from spanwise.schemes.windows import ARW, Decayed, Fixed, Hoeffding

__all__ = [
    "ARW",
    "AWE",
    "CBCE",
    "FLH",
    "MRI",
    "SAOL",
    "Algorithm",
    "Best",
    "Decayed",
    "Doubling",
    "EnsembleOrBest",
    "Fixed",
    "FunctionLearner",
    "Geometric",
    "Hoeffding",
    "HoldOut",
    "Learner",
    "Majority",
    "OneResolution",
    "Plain",
    "PlainEnsemble",
    "Prequential",
    "ROnly",
    "RoundReport",
    "Scheme",
    "SingleResolution",
    "Span",
    "Spanwise",
    "Stateful",
    "Threaded",
    "Uniform",
    "Vote",
    "__version__",
    "refine_accuracy",
]
