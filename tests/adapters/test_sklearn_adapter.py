"""What must hold of any scikit-learn classifier behind the learner's three methods."""

import logging
import sys
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier, SGDRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.utils import get_tags

from spanwise import snapshot
from spanwise.adapters import estimators
from spanwise.adapters.growth import grow
from spanwise.adapters.precision import in_one_precision
from spanwise.adapters.sklearn import SklearnLearner
from spanwise.core.awe import AWE
from spanwise.core.choice import softmax
from spanwise.errors import LearnerError, MissingExtraError, SettingError, SnapshotError
from spanwise.learner import Stateful, adapt

CENTRES = np.array([[3, 0, 0, 3], [0, 3, 0, 0], [0, 0, 3, 0], [3, 3, 3, 0], [0, 0, 0, 6]])


class NearestMean(ClassifierMixin, BaseEstimator):
    """A classifier that nobody knows how to grow, and that answers with bare classes."""

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_, self.sums_ = np.asarray(classes), np.zeros((len(classes), X.shape[1] + 1))
        np.add.at(self.sums_, y, np.column_stack([X, np.ones(len(X))]))
        return self

    def predict(self, X):
        means = self.sums_[:, :-1] / np.maximum(self.sums_[:, -1:], 1)
        return self.classes_[(2 * X @ means.T - (means**2).sum(axis=1)).argmax(axis=1)]


def mlp(**settings):
    return MLPClassifier(hidden_layer_sizes=(16,), learning_rate_init=0.1, **settings)


LINEAR = {
    "sgd-hinge": SGDClassifier(),
    "sgd-log": SGDClassifier(loss="log_loss"),
    "sgd-average": SGDClassifier(loss="log_loss", average=True),
    "sgd-average-later": SGDClassifier(average=300),
    "sgd-no-intercept": SGDClassifier(fit_intercept=False),
    "perceptron": Perceptron(),
}
BAYES = {
    "gaussian": GaussianNB(),
    "multinomial": MultinomialNB(),
    "multinomial-no-prior": MultinomialNB(fit_prior=False),
    "bernoulli": BernoulliNB(binarize=2.5),
    "complement": ComplementNB(norm=True),
    "categorical": CategoricalNB(min_categories=9),
}
NETWORKS = {
    "mlp-adam": mlp(),
    "mlp-sgd": mlp(solver="sgd", momentum=0.8),
    "mlp-generator": mlp(random_state=np.random.RandomState(3)),
}
PIPELINES = {
    "scaled": make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss")),
    "normalized": make_pipeline(Normalizer(), "passthrough", FunctionTransformer(np.sqrt), GaussianNB()),
}
GROWING = LINEAR | BAYES | NETWORKS | PIPELINES
ALL = GROWING | {"one-vs-rest": OneVsRestClassifier(SGDClassifier()), "nearest-mean": NearestMean()}


def over(models):
    return pytest.mark.parametrize("model", models.values(), ids=models.keys())


def batch(seed, n=120, classes=(0, 1, 2), centres=CENTRES):
    """Whole numbers from 0 to 8 around a centre for each class, so that every naive Bayes can take them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, size=n)
    return (centres[y] + rng.integers(0, 3, size=(n, 4))).astype(float), y


def trained(model, rounds=4, seed=1, **settings):
    learner = SklearnLearner(model).fresh(seed)
    for t in range(rounds):
        learner.learn(*batch(t, **settings))
    return learner


def accuracy(learner, X, y):
    return (learner.logits(X).argmax(axis=1) == y).mean()


def arrays(thing):
    """Every array within an estimator, with its path."""
    if isinstance(thing, np.ndarray):
        return {"": thing}
    items = dict(enumerate(thing)) if isinstance(thing, list | tuple) else getattr(thing, "__dict__", {})
    return {f".{name}{path}": a for name, item in items.items() for path, a in arrays(item).items()}


def same_arrays(one, two):
    return one.keys() == two.keys() and all(np.array_equal(one[path], two[path]) for path in one)


# -- what is taken, and what is refused --------------------------------------------------------------


@dataclass(frozen=True)
class Frozen:
    rate: float


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (LogisticRegression(), "LogisticRegression cannot learn batch by batch.*SGDClassifier"),
        (MLPClassifier(solver="lbfgs"), "no partial_fit.*solver='adam'"),
        (SGDRegressor(), "SGDRegressor is no classifier"),
        (MiniBatchKMeans(), "MiniBatchKMeans is no classifier"),
        (make_pipeline(TfidfVectorizer(), SGDClassifier()), "step 'tfidfvectorizer'.*HashingVectorizer"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "step 'logisticregression'.*no partial_fit"),
        (SGDClassifier(early_stopping=True), "early_stopping=True.*all data at once"),
        (SGDClassifier(class_weight="balanced"), "class_weight='balanced'.*all data at once"),
    ],
)
def test_what_cannot_learn_batch_by_batch_is_refused_by_name(estimator, said):
    with pytest.raises((LearnerError, SettingError), match=f"(?s){said}"):
        SklearnLearner(estimator)


def test_estimators_are_adapted_and_never_trained_themselves():
    estimator = SGDClassifier()
    learner = adapt(estimator)
    assert isinstance(learner, SklearnLearner)
    assert isinstance(learner, Stateful)
    learner.learn(*batch(0))
    assert not hasattr(estimator, "coef_")


def test_nan_is_welcome_where_every_step_says_so():
    """A scaler takes NaN and hands it on, so what comes after must take it too."""
    assert not SklearnLearner(SGDClassifier()).accepts_nan
    assert not SklearnLearner(make_pipeline(StandardScaler(), SGDClassifier())).accepts_nan
    filling = SklearnLearner(make_pipeline(FunctionTransformer(np.nan_to_num), SGDClassifier()))
    filling.accepts_nan = True
    model = AWE(filling)
    model.learn(np.array([[1.0], [np.nan]]), [0, 1])
    assert len(model.predict(np.array([[np.nan]]))) == 1


def test_other_settings_than_the_saved_ones_are_refused():
    saved = trained(SGDClassifier(loss="log_loss")).state()
    with pytest.raises(SnapshotError, match=r"alpha was 0\.0001 and is 1\.0.*loss was 'log_loss' and is 'hinge'"):
        SklearnLearner(SGDClassifier(alpha=1.0)).restore(saved)


# -- one learner ------------------------------------------------------------------------------------


@over(ALL)
def test_untrained_it_knows_no_class(model):
    assert SklearnLearner(model).logits(np.zeros((5, 4))).shape == (5, 0)


@over(ALL)
def test_it_learns_its_classes(model):
    learner = trained(model, rounds=8)
    X, y = batch(99)
    logits = learner.logits(X)
    assert logits.shape == (len(X), 3)
    assert np.isfinite(logits).all()
    assert accuracy(learner, X, y) > 0.8


def test_it_is_the_estimator_itself_bit_for_bit():
    learner = trained(SGDClassifier(loss="log_loss"))
    own = SGDClassifier(loss="log_loss", random_state=learner.model.random_state)
    for t in range(4):
        own.partial_fit(*batch(t), classes=[0, 1, 2])
    assert np.array_equal(learner.logits(batch(9)[0]), own.decision_function(batch(9)[0]))


def test_softmax_of_two_logits_is_the_probability_scikit_learn_gives():
    learner = trained(SGDClassifier(loss="log_loss"), classes=(0, 1))
    X, _ = batch(9, classes=(0, 1))
    assert np.allclose(softmax(learner.logits(X)), learner.model.predict_proba(X))


def test_softmax_of_a_networks_logits_is_its_probability():
    learner = trained(mlp())
    X, _ = batch(9)
    assert np.allclose(softmax(learner.logits(X)), learner.model.predict_proba(X))


@over(ALL)
def test_the_seed_decides(model):
    X, _ = batch(9)
    one, two, other = (trained(model, seed=seed).logits(X) for seed in (4, 4, 5))
    assert np.array_equal(one, two)
    if SklearnLearner(model).random_states:
        assert not np.array_equal(one, other)


def test_every_random_state_is_seeded_but_a_generator_of_the_users_own():
    nested = make_pipeline(FunctionTransformer(), OneVsRestClassifier(SGDClassifier(random_state=7)))
    states = [SklearnLearner(nested).fresh(s).model[-1].estimator.random_state for s in (1, 1, 2)]
    assert states[0] == states[1] != states[2]
    rng = np.random.RandomState(3)
    learner = SklearnLearner(SGDClassifier(random_state=rng)).fresh(1)
    assert learner.model.random_state is not rng
    assert learner.model.random_state.get_state()[1].tolist() == rng.get_state()[1].tolist()


def test_text_goes_through_a_stateless_step():
    learner = SklearnLearner(make_pipeline(HashingVectorizer(n_features=64), SGDClassifier())).fresh(0)
    learner.learn(["rain and wind", "sun and sky", "wind", "sky"], np.array([0, 1, 0, 1]))
    assert learner.logits(["much wind", "much sky"]).argmax(axis=1).tolist() == [0, 1]


def test_a_step_with_partial_fit_has_seen_every_batch():
    learner = trained(PIPELINES["scaled"])
    seen = np.concatenate([batch(t)[0] for t in range(4)])
    assert np.allclose(learner.model[0].mean_, seen.mean(axis=0))


def test_a_network_keeps_no_history():
    assert len(trained(mlp(), rounds=6).model.loss_curve_) == 1


# -- few classes, few rows --------------------------------------------------------------------------


@over(ALL)
def test_one_class_alone_is_learned_and_predicted(model):
    learner = trained(model, rounds=1, classes=(0,))
    X, _ = batch(9)
    assert learner.logits(X).shape == (len(X), 1)
    for t in range(1, 9):
        learner.learn(*batch(t, classes=(0, 1)))
    assert accuracy(learner, *batch(9, classes=(0, 1))) > 0.8


@over(BAYES)
def test_nothing_of_a_round_with_one_class_is_lost(model):
    learner = trained(model, rounds=1, classes=(0,))
    learner.learn(*batch(1, classes=(0, 1)))
    assert learner.model.class_count_.sum() == 240


@over(ALL)
def test_classes_never_seen_are_one_below_the_least_of_the_seen(model):
    learner = trained(model, classes=(1, 3))
    logits = learner.logits(batch(9)[0])
    assert np.allclose(logits[:, [0, 2]], logits[:, [1, 3]].min(axis=1, keepdims=True) - 1)


@over(ALL)
def test_rounds_of_one_row_and_constant_features_give_finite_logits(model):
    learner = SklearnLearner(model).fresh(0)
    for y in (2, 0, 2):
        learner.learn(np.ones((1, 4)), np.array([y]))
        assert np.isfinite(learner.logits(batch(9)[0])).all()


def test_impossible_classes_have_finite_logits_too():
    learner = trained(MultinomialNB(alpha=0.0), classes=(1, 2))
    X, _ = batch(9, classes=(1, 2))
    X[:10] = [0, 0, 0, 50]
    assert np.isfinite(learner.logits(X)).all()


# -- classes that come late -------------------------------------------------------------------------


@over(GROWING)
def test_a_class_that_comes_late_is_learned_beside_the_old_ones(model, caplog):
    learner = trained(model, rounds=8, classes=(0, 1))
    for t in range(20, 36):
        learner.learn(*batch(t, classes=(0, 1, 2)))
    for new_or_old in range(3):
        assert accuracy(learner, *batch(99, classes=(new_or_old,))) > 0.8
    assert not caplog.records, "it has started anew"


@over(BAYES)
@pytest.mark.parametrize("first", [(0,), (0, 1), (1,)])
def test_grown_naive_bayes_is_what_it_would_be_had_it_known_all_along(model, first):
    learner, knew = SklearnLearner(model).fresh(0), deepcopy(model)
    with np.errstate(all="ignore"):
        for t, classes in enumerate([first, (0, 1, 2), (2, 3), (0, 4)]):
            learner.learn(*batch(t, classes=classes))
            knew.partial_fit(*batch(t, classes=classes), classes=range(5))
        assert np.array_equal(learner.logits(batch(9)[0]), knew.predict_joint_log_proba(batch(9)[0]))


@over(LINEAR | NETWORKS)
@settings(max_examples=10, deadline=None)
@given(known=st.integers(2, 4), more=st.integers(1, 3), seed=st.integers(0, 1000))
def test_growing_changes_no_answer(model, known, more, seed):
    learner = SklearnLearner(model).fresh(seed)
    learner.learn(*batch(seed, classes=range(known)))
    learner.learn(np.zeros((1, 4)), np.array([known - 1]))
    X = np.random.default_rng(seed).normal(scale=10, size=(50, 4))
    before = learner.model.predict(X)
    assert grow(learner.model, known + more)
    assert np.array_equal(learner.model.predict(X), before)


@over({name: model for name, model in LINEAR.items() if not model.get_params().get("average")})
def test_two_classes_grow_into_the_rows_that_three_would_have_had(model):
    binary, three = (deepcopy(model).set_params(shuffle=False) for _ in range(2))
    for t in range(3):
        X, y = batch(t, classes=(0, 1))
        binary.partial_fit(X, y, classes=[0, 1])
        three.partial_fit(X, y, classes=[0, 1, 2])
    grow(binary, 3)
    assert np.allclose(binary.coef_[:2], three.coef_[:2])
    assert np.allclose(binary.intercept_[:2], three.intercept_[:2])


@pytest.mark.parametrize("average", [True, 300])
def test_an_averaged_model_keeps_its_shared_arrays_when_it_grows(average):
    learner = trained(SGDClassifier(average=average), classes=(0, 1, 2))
    model = learner.model
    assert model.coef_ is model._average_coef
    grow(model, 5)
    assert model.coef_ is model._average_coef
    assert model.intercept_ is model._average_intercept
    assert model._standard_coef.shape == model._average_coef.shape == (5, 4)


@pytest.mark.parametrize("known", [2, 3])
def test_a_grown_network_weighs_its_old_classes_as_before(known):
    learner = trained(mlp(), classes=range(known))
    X, _ = batch(9)
    before = learner.model.predict_proba(X)
    grow(learner.model, known + 1)
    after = learner.model.predict_proba(X)[:, :known]
    assert np.allclose(after / after.sum(axis=1, keepdims=True), before)


@over(NETWORKS)
@pytest.mark.parametrize("known", [2, 3])
def test_a_grown_network_keeps_the_state_of_its_optimiser(model, known):
    learner = trained(model, classes=range(known))
    before = deepcopy(learner.model._optimizer)
    grow(learner.model, known + 1)
    after, shapes = learner.model._optimizer, [p.shape for p in learner.model.coefs_ + learner.model.intercepts_]
    assert getattr(after, "t", None) == getattr(before, "t", None)
    for name in {"ms", "vs", "velocities"} & vars(after).keys():
        old, new = getattr(before, name), getattr(after, name)
        assert [moment.shape for moment in new] == shapes
        assert np.array_equal(new[0], old[0])
        assert np.array_equal(new[-1][known - 1], old[-1][-1])
        assert not new[-1][known:].any()


def test_priors_for_fewer_classes_are_refused_in_scikit_learns_words():
    learner = trained(GaussianNB(priors=[0.5, 0.5]), classes=(0, 1))
    with pytest.raises(ValueError, match="priors must match"):
        learner.learn(*batch(9))


def test_a_classifier_that_cannot_grow_starts_anew_and_says_so(caplog):
    learner = trained(make_pipeline(StandardScaler(), NearestMean()), classes=(0, 1))
    rows = learner.model[0].n_samples_seen_
    with caplog.at_level(logging.WARNING, logger="spanwise"):
        learner.learn(*batch(9, classes=(1, 2)))
    assert "NearestMean cannot take in a class" in caplog.text
    assert learner.model[-1].sums_[:, -1].sum() == 120, "only the last batch is known to the classifier"
    assert learner.model[0].n_samples_seen_ == rows + 120, "the scaler has forgotten nothing"
    X, _ = batch(8)
    assert set(learner.logits(X).argmax(axis=1)) <= {1, 2}, "class 0 was forgotten, so it is not predicted"
    learner.learn(*batch(10))
    assert accuracy(learner, *batch(11)) > 0.8


def test_a_classifier_of_your_own_can_be_taught_to_grow():
    class Growing(NearestMean):
        pass

    @grow.register(Growing)
    def _(classifier, classes):
        classifier.sums_ = np.pad(classifier.sums_, [(0, classes - len(classifier.sums_)), (0, 0)])
        classifier.classes_ = np.arange(classes)
        return True

    learner = trained(Growing(), classes=(0, 1))
    learner.learn(*batch(9, classes=(2,)))
    assert accuracy(learner, *batch(10)) > 0.8


# -- copies -----------------------------------------------------------------------------------------


@over(ALL)
def test_training_a_copy_leaves_every_array_of_the_original_as_it_was(model):
    learner = trained(model)
    held, before = arrays(learner.model), deepcopy(arrays(learner.model))
    learner.copy().learn(*batch(9, classes=(0, 1, 2)))
    learner.copy().learn(*batch(9, classes=(0, 3)))
    assert same_arrays(held, before)
    assert arrays(learner.model).keys() == before.keys()


@over(ALL | {"rng": SGDClassifier(random_state=np.random.RandomState(1))})
def test_a_copy_goes_on_as_the_original_does(model):
    learner = trained(model)
    twin = learner.copy()
    for t in (9, 10):
        learner.learn(*batch(t, classes=(0, 2, 4)))
        twin.learn(*batch(t, classes=(0, 2, 4)))
    assert np.array_equal(learner.logits(batch(11)[0]), twin.logits(batch(11)[0]))
    assert same_arrays(arrays(learner.model), arrays(twin.model))


HELD = {"array": np.asarray, "frame": lambda X: pd.DataFrame(X, columns=list("abcd")), "sparse": csr_matrix}
KINDS = [("float32", "float64"), ("float64", "float32"), ("int64", "float32"), ("float32", "int64")]


@over(LINEAR | BAYES | {"mlp": mlp(), "scaled": make_pipeline(StandardScaler(), SGDClassifier())})
@pytest.mark.parametrize("kinds", KINDS, ids=">".join)
@pytest.mark.parametrize("held", HELD)
def test_batches_may_come_in_any_precision_and_nothing_is_lost(model, kinds, held):
    if held == "sparse" and not get_tags(model).input_tags.sparse:
        pytest.skip("it takes no sparse matrix")
    mixed, precise = (SklearnLearner(model).fresh(seed=0) for _ in range(2))
    for t, kind in enumerate(kinds * 2):
        X, y = batch(t)
        mixed.learn(HELD[held](X.astype(kind)), y)
        precise.learn(HELD[held](X), y)
    X = HELD[held](batch(9)[0])
    np.testing.assert_allclose(
        mixed.logits(X), precise.logits(X), rtol=0.02, atol=0.5
    )  # what was learned in float32 is coarse


@over(LINEAR)
def test_large_numbers_are_not_rounded_when_the_first_batch_was_float32(model):
    learner = SklearnLearner(model).fresh(0)
    X, y = batch(1)
    learner.learn(X.astype("float32"), y)
    learner.learn(np.full_like(X, 1e60), y)  # more than float32 holds
    assert learner.classifier.coef_.dtype == np.float64


def test_only_scikit_learns_own_linear_models_are_brought_to_one_precision():
    class Own(NearestMean):
        coef_ = "of its own"

    X = np.zeros((2, 1), dtype="float32")
    assert in_one_precision(Own(), X) is X


def test_two_names_of_one_array_are_two_names_of_one_copy():
    twin = trained(LINEAR["sgd-average"]).copy().model
    assert twin.coef_ is twin._average_coef
    assert twin.intercept_ is twin._average_intercept


def test_settings_that_forbid_changes_are_copied():
    held = Frozen(0.5)
    assert estimators.copy_estimator([held]) == [held]


def test_what_was_learned_is_seen_as_the_pipeline_that_was_passed():
    passed = make_pipeline("passthrough", StandardScaler(), None, GaussianNB())
    learner = trained(passed)
    assert [name for name, _ in learner.model.steps] == [name for name, _ in passed.steps]
    assert [type(step) for _, step in learner.model.steps] == [type(step) for _, step in passed.steps]
    assert np.array_equal(learner.model.predict(batch(9)[0]), learner.logits(batch(9)[0]).argmax(axis=1))
    assert not hasattr(learner.template[-1], "theta_"), "the learner's own settings stay untrained"


def test_an_object_that_knows_how_to_copy_itself_is_asked():
    class Counted(NearestMean):
        copies = 0

        def __deepcopy__(self, memo):
            Counted.copies += 1
            return self

    held = Counted()
    assert estimators.copy_estimator([held, held]) == [held, held]
    assert Counted.copies >= 1


# -- snapshots --------------------------------------------------------------------------------------


@over(
    GROWING | {"rng": SGDClassifier(random_state=np.random.RandomState(1)), "one-vs-rest": ALL["one-vs-rest"]},
)
def test_saved_and_read_back_it_goes_on_bit_for_bit(model, tmp_path):
    learner = trained(model)
    snapshot.write(tmp_path, learner.state())
    again = SklearnLearner(model).fresh(77)
    again.restore(snapshot.read(tmp_path))
    for t, classes in enumerate([(0, 1, 2), (0, 2, 3)]):
        assert np.array_equal(learner.logits(batch(t)[0]), again.logits(batch(t)[0]))
        learner.learn(*batch(50 + t, classes=classes))
        again.learn(*batch(50 + t, classes=classes))
    assert same_arrays(arrays(learner.model), arrays(again.model))


def test_an_untrained_learner_can_be_saved():
    again = SklearnLearner(SGDClassifier()).fresh(1)
    again.restore(SklearnLearner(SGDClassifier()).fresh(2).state())
    assert again.logits(np.zeros((3, 4))).shape == (3, 0)


def test_a_classifier_of_your_own_is_trusted_because_you_passed_it():
    again = SklearnLearner(NearestMean()).fresh(0)
    again.restore(trained(NearestMean()).state())
    assert accuracy(again, *batch(9)) > 0.8


@pytest.mark.parametrize(
    ("saved", "passed", "said"),
    [
        (SGDClassifier(), GaussianNB(), "holds SGDClassifier, but GaussianNB was passed"),
        (PIPELINES["scaled"], SGDClassifier(), "holds StandardScaler > SGDClassifier"),
        (NearestMean(), SGDClassifier(), "NearestMean, which is neither part of scikit-learn"),
        (
            make_pipeline(FunctionTransformer(np.nan_to_num), GaussianNB()),
            make_pipeline(FunctionTransformer(), GaussianNB()),
            "numpy.nan_to_num",
        ),
    ],
)
def test_what_the_template_does_not_hold_is_not_loaded(saved, passed, said):
    with pytest.raises(SnapshotError, match=said):
        SklearnLearner(passed).restore(trained(saved).state())


def test_what_cannot_be_found_again_is_not_written():
    learner = trained(make_pipeline(FunctionTransformer(lambda X: X), GaussianNB()))
    with pytest.raises(SnapshotError, match=r"<lambda>.*cannot be found again"):
        learner.state()


def test_bytes_that_are_no_estimator_are_refused():
    learner = trained(GaussianNB())
    with pytest.raises(SnapshotError, match="cannot be read"):
        learner.restore({**learner.state(), "estimator": b"nothing of the kind"})


def test_without_skops_only_saving_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    learner = trained(GaussianNB())
    with pytest.raises(MissingExtraError, match=r"spanwise\[sklearn\]"):
        learner.state()


# -- within a scheme --------------------------------------------------------------------------------


@over({"linear": LINEAR["sgd-log"], "bayes": GaussianNB(), "network": mlp(), "scaled": PIPELINES["scaled"]})
def test_a_scheme_takes_late_classes_and_goes_on_after_loading(model, tmp_path):
    scheme = AWE(model, seed=3)
    for t in range(6):
        X, y = batch(t, classes=(0, 1) if t < 3 else (0, 1, 2))
        scheme.learn(X, np.array(["rain", "sun", "snow"])[y])
    scheme.save(tmp_path)
    again = AWE.load(tmp_path, model)
    X, y = batch(9)
    for one in (scheme, again):
        one.learn(X, np.array(["rain", "sun", "snow"])[y])
    assert np.array_equal(scheme.predict_proba(X), again.predict_proba(X))
    assert (scheme.predict(X) == np.array(["rain", "sun", "snow"])[y]).mean() > 0.8
