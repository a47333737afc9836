"""River learners that are ready to use by name."""

from spanwise.errors import MissingExtraError

try:
    from river.linear_model import SoftmaxRegression
    from river.naive_bayes import GaussianNB
    from river.tree import HoeffdingTreeClassifier
except ImportError as error:
    raise MissingExtraError("river", "river") from error

from spanwise.adapters.river import RiverLearner


def hoeffding_tree() -> RiverLearner:
    """A decision tree that grows as data comes in."""
    return RiverLearner(HoeffdingTreeClassifier())


def linear() -> RiverLearner:
    """Softmax regression, row by row."""
    return RiverLearner(SoftmaxRegression())


def naive_bayes() -> RiverLearner:
    """Gaussian naive Bayes."""
    return RiverLearner(GaussianNB())
