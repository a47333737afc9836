"""scikit-learn learners that are ready to use by name, with settings that suit a stream."""

from spanwise.errors import MissingExtraError

try:
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError as error:
    raise MissingExtraError("scikit-learn", "sklearn") from error

from spanwise.adapters.sklearn import SklearnLearner


def linear() -> SklearnLearner:
    """Logistic regression by stochastic gradient descent."""
    return SklearnLearner(SGDClassifier(loss="log_loss"))


def averaged_linear() -> SklearnLearner:
    """The same with its weights averaged over all steps: steadier, and slow to forget."""
    return SklearnLearner(SGDClassifier(loss="log_loss", average=True))


def scaled_linear() -> SklearnLearner:
    """The same on features scaled by what was seen so far."""
    return SklearnLearner(make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")))


def mlp() -> SklearnLearner:
    """A small neural network trained with Adam, one pass over each batch."""
    return SklearnLearner(MLPClassifier(hidden_layer_sizes=(32,), learning_rate_init=0.01))


def naive_bayes() -> SklearnLearner:
    """Gaussian naive Bayes."""
    return SklearnLearner(GaussianNB())
