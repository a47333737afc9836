"""Framework 1: predict, be scored, learn; every figure against one worked out by hand."""

from functools import partial
from math import log

import numpy as np
import pytest

from spanwise.adapters.functions import FunctionLearner, majority_class
from spanwise.core.awe import AWE
from spanwise.core.evidence import HoldOut, Prequential
from spanwise.errors import DataError, LabelError, LearnerError, SettingError
from spanwise.evaluate import Evaluation, Row, compare, evaluate, read
from spanwise.evaluate.metrics import LEAST
from spanwise.schemes.cbce import CBCE
from spanwise.schemes.plain import Plain, PlainEnsemble
from spanwise.schemes.saol import SAOL
from spanwise.schemes.vote import Vote
from spanwise.streams import Abrupt, Batch, Stationary

SURE = log(3)  # the logit that makes a probability of 3/4 against one other class


def reader(column):
    """A learner that has learned all there is: its logit of class 1 against class 0 stands in a column of X."""
    return FunctionLearner(
        lambda seed: None,
        lambda state, X, y: state,
        lambda state, X: np.stack([np.zeros(len(X)), np.asarray(X)[:, column]], axis=1),
    )


def class_means(seed=0):
    """The nearest mean of a class, over all rounds."""

    def learn(sums, X, y):
        total, count = np.zeros((4, 10)), np.zeros(4)
        np.add.at(total, y, X)
        np.add.at(count, y, 1)
        return sums[0] + total, sums[1] + count

    def logits(sums, X):
        means = sums[0] / np.maximum(sums[1], 1)[:, None]
        return X @ means.T - (means**2).sum(axis=1) / 2

    return FunctionLearner(lambda seed: (np.zeros((4, 10)), np.zeros(4)), learn, logits)


def said(*by_model):
    """X in which the model of column j says the classes listed in by_model[j], each at probability 3/4."""
    return np.where(np.array(by_model).T == 1, SURE, -SURE)


SCRIPT = [
    Batch(said([0, 1], [0, 1]), [0, 1]),
    Batch(said([0, 0, 1, 1], [0, 0, 0, 0]), [0, 0, 0, 1], best=np.array([0, 0, 0, 1])),
    Batch(said([1, 1], [1, 1]), [1, 1], shift=True, best=np.array([1, 0])),
    Batch(said([1, 1, 0, 0], [1, 0, 0, 0]), [1, 0, 0, 0], best=np.array([1, 0, 0, 1])),
]


def scripted(**settings):
    return evaluate({"plain": Plain(reader(0)), "other": Plain(reader(1))}, SCRIPT, **settings)


def test_every_figure_of_a_round_is_the_one_worked_out_by_hand():
    plain, other = ([row for row in scripted().rows if row.scheme == name] for name in ("plain", "other"))
    right, wrong = -log(3 / 4), -log(1 / 4)
    expected = {
        "n": ([2, 4, 2, 4], [2, 4, 2, 4]),
        "accuracy": ([None, 3 / 4, 1, 3 / 4], [None, 3 / 4, 1, 1]),
        "balanced_accuracy": ([None, (2 / 3 + 1) / 2, 1, (1 + 2 / 3) / 2], [None, 1 / 2, 1, 1]),
        "macro_f1": ([None, (4 / 5 + 2 / 3) / 2, 1, (2 / 3 + 4 / 5) / 2], [None, (6 / 7 + 0) / 2, 1, 1]),
        "log_loss": ([None, (3 * right + wrong) / 4, right, (3 * right + wrong) / 4],
                     [None, (3 * right + wrong) / 4, right, right]),
        "regret": ([None, 1 / 4, -1 / 2, 0], [None, 1 / 4, -1 / 2, -1 / 4]),
        "by_class": ([{}, {"0": (3, 2), "1": (1, 1)}, {"1": (2, 2)}, {"0": (3, 2), "1": (1, 1)}],
                     [{}, {"0": (3, 3), "1": (1, 0)}, {"1": (2, 2)}, {"0": (3, 3), "1": (1, 1)}]),
        "ahead": ([None] * 4, [None, 1, 0, 1]),
        "behind": ([None] * 4, [None, 1, 0, 0]),
        "chosen": ([1, 1, 1, 1], [1, 1, 1, 1]),
        "span": ([1, 2, 3, 4], [1, 2, 3, 4]),
        "starts": ([(1,)] * 4, [(1,)] * 4),
        "shift": ([False, False, True, False], [False, False, True, False]),
    }  # fmt: skip
    for figure, columns in expected.items():
        for rows, column in zip((plain, other), columns, strict=True):
            for row, value in zip(rows, column, strict=True):
                assert getattr(row, figure) == (pytest.approx(value) if isinstance(value, float) else value), figure


def test_the_summary_is_the_one_worked_out_by_hand():
    plain, other = scripted().summary()
    assert (plain.scheme, plain.rounds, plain.accuracy, plain.gain) == ("plain", 3, pytest.approx(2.5 / 3), 0)
    assert (plain.wins, plain.draws, plain.losses) == (0, 3, 0)
    assert (other.scheme, other.rounds, other.accuracy) == ("other", 3, pytest.approx(2.75 / 3))
    assert other.balanced_accuracy == pytest.approx(2.5 / 3)
    assert other.macro_f1 == pytest.approx((3 / 7 + 2) / 3)
    assert other.gain == other.gain_same_fold == pytest.approx(100 * 0.25 / 3)
    assert (other.wins, other.draws, other.losses) == (1, 2, 0)
    assert (other.regret, other.dynamic_regret) == (pytest.approx(-0.5 / 3), pytest.approx(-0.5))
    assert (plain.regret, plain.dynamic_regret) == (pytest.approx(-0.25 / 3), pytest.approx(-0.25))
    assert 0 < other.seconds < 1


def test_a_loss_is_counted_as_one():
    mirrored = evaluate({"plain": Plain(reader(1)), "other": Plain(reader(0))}, SCRIPT).summary()[1]
    assert (mirrored.wins, mirrored.draws, mirrored.losses) == (0, 2, 1)
    assert mirrored.gain == pytest.approx(-100 * 0.25 / 3)


def test_rows_ahead_and_behind_are_counted_whoever_is_played_first():
    other, plain = (evaluate({"other": Plain(reader(1)), "plain": Plain(reader(0))}, SCRIPT).rows[i::2] for i in (0, 1))
    assert [(row.scheme, row.ahead, row.behind) for row in other[1:]] == [
        ("other", 1, 1),
        ("other", 0, 0),
        ("other", 1, 0),
    ]
    assert {(row.scheme, row.ahead, row.behind) for row in plain} == {("plain", None, None)}


def test_rows_ahead_minus_rows_behind_are_the_difference_in_accuracy_and_classes_add_up_to_it():
    result = compare(class_means(), Abrupt(rounds=20, every=8, size=40), {"awe": AWE, "saol": SAOL}, seed=4)
    plain = {row.round: row.accuracy for row in result.rows if row.scheme == "plain"}
    scored = [row for row in result.rows if row.accuracy is not None]
    for row in scored:
        if row.scheme != "plain":
            assert (row.ahead - row.behind) / row.n == pytest.approx(row.accuracy - plain[row.round])
        assert sum(n for n, _ in row.by_class.values()) == row.n
        assert sum(right for _, right in row.by_class.values()) == pytest.approx(row.n * row.accuracy)
    assert {row.seed for row in result.rows} == {4}
    assert any(row.ahead for row in scored)


def test_labels_that_read_the_same_are_counted_together_by_class():
    rounds = [([[0.0]], [1]), ([[0.0]] * 3, [1, "1", "new"])]
    assert evaluate(Plain(majority_class()), rounds).rows[1].by_class == {"1": (2, 1), "new": (1, 0)}


def test_seconds_are_those_of_the_learners_own_clock_where_it_has_one():
    class Clocked(FunctionLearner):
        read = 0

        def clock(self):
            self.read += 1
            return float(self.read**2)

    learner = Clocked(*reader(0).functions)
    assert [row.seconds for row in evaluate(Plain(learner), SCRIPT[:2]).rows] == [4 - 1 + 16 - 9, 36 - 25 + 64 - 49]


def test_rows_of_several_seeds_are_no_evaluation():
    with pytest.raises(SettingError, match=r"seeds 0, 2, and an evaluation is of one"):
        Evaluation([Row(1, "plain"), Row(1, "plain", seed=2)])


def test_without_a_baseline_gains_are_not_known():
    alone = evaluate(Plain(reader(0)), SCRIPT).summary()[0]
    assert (alone.scheme, alone.accuracy) == ("model", pytest.approx(2.5 / 3))
    assert (alone.gain, alone.gain_same_fold, alone.wins, alone.draws, alone.losses) == (None,) * 5


def test_without_a_best_classifier_regret_is_not_known():
    alone = evaluate(Plain(reader(0)), [(batch.X, batch.y) for batch in SCRIPT]).summary()[0]
    assert (alone.regret, alone.dynamic_regret) == (None, None)


def test_the_record_reads_back_as_the_rows(tmp_path):
    path = tmp_path / "run.jsonl"
    models = {"plain": Plain(class_means()), "awe": AWE(class_means()), "saol": SAOL(class_means())}
    result = evaluate(models, Abrupt(rounds=12, every=5), record=path)
    assert read(path) == result.rows
    assert Evaluation(read(path)).summary() == result.summary()


SCHEMES = [
    Plain, PlainEnsemble, AWE, Vote, SAOL, CBCE,
    partial(AWE, evidence=Prequential()), partial(AWE, horizon=32, literal=True),
]  # fmt: skip


@pytest.mark.parametrize("make", SCHEMES, ids=lambda make: getattr(make, "__name__", str(make)))
def test_an_evaluation_equals_a_loop_by_hand_that_asks_for_labels(make):
    stream = Abrupt(rounds=30, every=12, size=40)
    evaluation = evaluate({"it": make(class_means())}, stream)
    model, accuracy, spans, report = make(class_means()), [], [], None
    for t, (X, y) in enumerate(stream, start=1):
        if report is not None:
            accuracy.append(np.mean(model.predict(X) == y))
            spans.append((t, report.chosen if report.span is None else report.span))
        report = model.learn(X, y)
    np.testing.assert_array_equal(evaluation.accuracy_of("it"), accuracy)
    assert evaluation.chosen_spans("it") == spans
    assert evaluation.shifts == stream.shifts


def test_models_do_not_disturb_each_other_and_one_pass_over_the_stream_is_enough():
    stream = Abrupt(rounds=10, every=5, size=30)
    together = evaluate({"awe": AWE(class_means()), "plain": Plain(class_means())}, iter(stream))
    for name, make in {"awe": AWE, "plain": Plain}.items():
        alone = evaluate({name: make(class_means())}, stream)
        np.testing.assert_array_equal(together.accuracy_of(name), alone.accuracy_of(name))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_rows_without_a_label_are_neither_scored_nor_learned(missing):
    stream = list(Stationary(rounds=6, size=20))
    holes = [(batch.X, [missing if i % 3 == 0 else int(c) for i, c in enumerate(batch.y)]) for batch in stream]
    kept = [i for i in range(20) if i % 3]
    without = [(batch.X[kept], batch.y[kept]) for batch in stream]
    some, none = (evaluate(Plain(class_means()), rounds) for rounds in (holes, without))
    np.testing.assert_array_equal(some.accuracy_of("model"), none.accuracy_of("model"))
    assert {row.n for row in some.rows} == {len(kept)}


def test_a_round_without_labels_is_skipped_and_says_so(tmp_path):
    path = tmp_path / "run.jsonl"
    model = Plain(majority_class())
    rounds = [([[0.0]], ["a"]), ([[0.0]] * 2, [None, None]), ([[0.0]] * 2, ["a", "b"])]
    (summary,) = evaluate({"plain": model}, rounds, record=path).summary()
    assert [(row.round, row.n, row.skipped, row.accuracy) for row in read(path)] == [
        (1, 1, False, None), (2, 0, True, None), (3, 2, False, 0.5),
    ]  # fmt: skip
    assert (summary.rounds, summary.skipped, model.round) == (1, 1, 3)


def test_the_first_round_with_labels_is_the_one_not_scored():
    rounds = [([[0.0]], [None]), ([[0.0]], ["a"]), ([[0.0]], ["a"])]
    result = evaluate(Plain(majority_class()), rounds)
    assert [row.accuracy for row in result.rows] == [None, None, 1.0]
    assert result.chosen_spans("model") == [(3, 1)]


def test_a_class_never_seen_before_is_one_the_model_got_wrong():
    first, second = ([[0.0]], [("a", 1)]), ([[0.0]] * 2, [("a", 1), "new"])
    row = evaluate(Plain(majority_class()), [first, second]).rows[1]
    assert (row.accuracy, row.balanced_accuracy, row.macro_f1) == (0.5, 0.5, pytest.approx(1 / 3))
    assert row.log_loss == pytest.approx(-log(LEAST) / 2)


def test_regret_is_never_below_noise_and_dynamic_regret_is_its_sum():
    stream = Abrupt(rounds=60, every=20)
    result = evaluate({"plain": Plain(class_means()), "awe": AWE(class_means())}, stream)
    for summary in result.summary():
        regrets = [row.regret for row in result.rows if row.scheme == summary.scheme and row.regret is not None]
        best = np.array([np.mean(batch.best == batch.y) for batch in stream])[1:]
        np.testing.assert_allclose(regrets, best - result.accuracy_of(summary.scheme))
        assert summary.dynamic_regret == pytest.approx(sum(regrets))
        assert summary.regret == pytest.approx(np.mean(regrets))
        assert summary.regret > -0.02


def test_progress_is_told_of_every_round():
    told = []
    evaluate(Plain(reader(0)), SCRIPT, progress=told.append)
    assert told == [1, 2, 3, 4]


def test_a_run_that_dies_leaves_its_rounds_in_the_record(tmp_path):
    path = tmp_path / "run.jsonl"

    def fail(state, X, y):
        if len(X) == 3:
            raise ValueError("three is too many")

    learner = FunctionLearner(lambda seed: None, fail, lambda state, X: np.zeros((len(X), 1)))
    with pytest.raises(LearnerError, match="three is too many"):
        evaluate({"it": Plain(learner)}, [([[0.0]] * n, ["a"] * n) for n in (1, 2, 3)], record=path)
    assert [row.round for row in read(path)] == [1, 2]


def test_bad_labels_are_refused_and_not_skipped():
    with pytest.raises(DataError, match="round 1 has 2 rows of features but 1 labels"):
        evaluate(Plain(reader(0)), [([[0.0]] * 2, ["a"])])
    with pytest.raises(LabelError, match="hashable"):
        evaluate(Plain(reader(0)), [([[0.0]] * 2, [["a"], ["b"]])])


def test_what_is_no_pair_is_refused():
    with pytest.raises(DataError, match="round 2 came as tuple"):
        evaluate(Plain(reader(0)), [SCRIPT[0], ([[0.0]], ["a"], "more")])


def test_an_unknown_scheme_is_answered_with_those_there_are():
    with pytest.raises(KeyError, match="choose from plain, other"):
        scripted().accuracy_of("awe")


def test_a_comparison_adds_the_plain_learner_and_the_one_on_the_same_folds():
    stream = Abrupt(rounds=15, every=6, size=30)
    makes = {
        "awe": lambda learner, seed: AWE(learner, seed=seed, train_fraction=0.7),
        "saol": lambda learner, seed: SAOL(learner, seed=seed),
    }
    result = compare(class_means(), stream, makes, seed=3)
    by_hand = {
        "plain": Plain(class_means(), seed=3),
        "plain-same-fold": Plain(class_means(), seed=3, train_fraction=0.7),
        "awe": makes["awe"](class_means(), 3),
    }
    for name, model in by_hand.items():
        np.testing.assert_array_equal(
            result.accuracy_of(name), evaluate({name: model}, stream).accuracy_of(name), err_msg=name
        )
    mean = {name: 100 * result.accuracy_of(name).mean() for name in result.schemes}
    for line in result.summary():
        assert line.gain == pytest.approx(mean[line.scheme] - mean["plain"])
        held = line.scheme in ("awe", "plain-same-fold")
        assert line.gain_same_fold == pytest.approx(mean[line.scheme] - mean["plain-same-fold" if held else "plain"])


def test_the_plain_learner_on_the_same_folds_sees_the_rows_that_the_scheme_trains_on():
    def seen():
        return FunctionLearner(lambda seed: [], lambda rows, X, y: [*rows, *X[:, 0].tolist()], lambda rows, X: X[:, :2])

    rounds = [(np.arange(40.0).reshape(20, 2) + 100 * t, [0, 1] * 10) for t in range(4)]
    awe, plain = AWE(seen(), seed=5), Plain(seen(), seed=5, train_fraction=0.9)
    evaluate({"awe": awe, "plain-same-fold": plain}, rounds)
    trained = [model.method.pool.engine.instances[model.method.pool.spans[0]].values for model in (awe, plain)]
    assert trained[0] == trained[1]
    assert len(trained[0]) == 4 * 18


def test_a_comparison_of_schemes_that_train_on_all_rows_needs_no_second_baseline():
    makes = {"awe": lambda learner, seed: AWE(learner, seed=seed, evidence=Prequential())}
    result = compare(class_means(), Abrupt(rounds=6, every=3, size=30), makes)
    assert result.schemes == ["plain", "awe"]
    line = result.summary()[1]
    assert line.gain == line.gain_same_fold


def test_gain_on_the_same_fold_is_not_known_where_that_baseline_was_not_run():
    models = {"plain": Plain(class_means()), "awe": AWE(class_means())}
    line = evaluate(models, Abrupt(rounds=5, size=20)).summary()[1]
    assert line.gain is not None
    assert line.gain_same_fold is None


def test_schemes_that_hold_back_different_rows_cannot_share_a_baseline():
    makes = {
        "a": lambda learner, seed: AWE(learner, train_fraction=0.9),
        "b": lambda learner, seed: AWE(learner, evidence=HoldOut(0.5)),
    }
    with pytest.raises(SettingError, match=r"a 0\.9, b 0\.5"):
        compare(class_means(), [], makes)
