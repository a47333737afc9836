"""Live instances: their seeds, their start and end, and what is made of their logits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spanwise.adapters.functions import FunctionLearner
from spanwise.core.awe import AWE
from spanwise.core.pool import Pool, complete, seed_of
from spanwise.core.spans import MRI, LiteralMRI, Span
from spanwise.errors import LearnerError, SpanwiseError
from spanwise.schemes.plain import Plain

finite = st.floats(-1e6, 1e6)


def pool_of(learn=lambda state, X, y: state, logits=lambda state, X: np.zeros((len(X), 2)), classes=2):
    pool = Pool(FunctionLearner(lambda seed: [seed], learn, logits), seed=5)
    pool.classes = classes
    return pool


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=finite), st.integers(0, 4))
def test_a_class_left_out_is_one_below_the_least_logit_of_the_row(logits, missing):
    n, width = logits.shape
    wide = complete(logits, n, width + missing, Span(1))
    assert wide.shape == (n, width + missing)
    assert (wide[:, :width] == logits).all()
    for row, padded in zip(logits, wide, strict=True):
        assert padded[width:].tolist() == [row.min() - 1.0] * missing


def test_an_instance_that_knows_no_class_says_the_same_of_all():
    assert complete(np.zeros((2, 0)), 2, 3, Span(1)).tolist() == [[0.0] * 3] * 2


def test_whole_numbers_are_logits_too():
    assert complete(np.array([[3, 1]]), 1, 3, Span(1)).tolist() == [[3.0, 1.0, 0.0]]


@pytest.mark.parametrize("shape", [(3,), (2, 2), (4, 2), (3, 2, 1), ()], ids=str)
def test_logits_of_a_wrong_shape_name_the_instance_and_both_shapes(shape):
    pool = pool_of(logits=lambda state, X: np.zeros(shape))
    pool.advance([Span(1), Span(7)])
    with pytest.raises(LearnerError, match=r"started at round 7 answered logits of shape .*expected \(3, k\)") as error:
        pool.scores(np.zeros((3, 1))).of([Span(7)])
    assert str(shape) in str(error.value)


def test_what_a_network_says_of_classes_nobody_has_seen_is_left_out():
    assert complete(np.array([[3.0, 1.0, 9.0]]), 1, 2, Span(1)).tolist() == [[3.0, 1.0]]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_logits_that_are_not_finite_say_where(bad):
    pool = pool_of(logits=lambda state, X: np.array([[0.0, 1.0], [2.0, bad]]))
    pool.advance([Span(4)])
    with pytest.raises(LearnerError, match=f"started at round 4 answered {bad} for row 1, class 1"):
        pool.scores([[0], [0]]).of([Span(4)])


@pytest.mark.parametrize("answer", [[["a", "b"]], [[None, 1.0]], [[1.0], [1.0, 2.0]], None], ids=str)
def test_logits_that_are_no_numbers_are_the_learners_fault(answer):
    pool = pool_of(logits=lambda state, X: answer)
    pool.advance([Span(4)])
    with pytest.raises(LearnerError, match="started at round 4"):
        pool.scores([[0]]).of([Span(4)])


def failing(*arguments):
    raise KeyError("weights")


def test_a_learner_that_raises_is_named_with_what_it_was_doing():
    pool = pool_of(learn=failing, logits=failing)
    pool.advance([Span(6)])
    with pytest.raises(LearnerError, match="started at round 6 failed while learning: KeyError: 'weights'") as error:
        pool.learn([[0]], np.array([0]))
    assert isinstance(error.value.__cause__, KeyError)
    with pytest.raises(LearnerError, match="started at round 6 failed while answering: KeyError: 'weights'"):
        pool.scores([[0]]).of([Span(6)])
    assert pool.trained == {Span(6): 0}


def test_errors_of_our_own_pass_as_they_are():
    class OwnError(SpanwiseError):
        pass

    def refuse(state, X, y):
        raise OwnError("said already")

    pool = pool_of(learn=refuse)
    pool.advance([Span(1)])
    with pytest.raises(OwnError, match=r"^said already$"):
        pool.learn([[0]], np.array([0]))


def test_a_merged_instance_has_the_seed_of_the_plain_learner_of_its_start():
    """The end of a span does not enter: a plain learner, a merged one and any other cover's start 1 are one run."""
    for span in MRI().active(300):
        assert seed_of(3, span) == seed_of(3, Span(span.start)) == seed_of(3, Span(span.start, 10**6))


def test_seeds_differ_by_start_copy_and_run():
    spans = [Span(start, copy=copy) for start in range(1, 200) for copy in range(3)]
    seeds = {seed_of(run, span) for run in range(3) for span in spans}
    assert len(seeds) == 3 * len(spans)


def test_literal_spans_have_seeds_of_their_own_by_kind_resolution_and_start():
    cover = LiteralMRI(64)
    spans = {(s.kind, s.resolution, s.start): s for t in range(1, 65) for s in cover.active(t)}
    seeds = {seed_of(0, span) for span in spans.values()}
    assert len(seeds) == len(spans)
    assert seeds.isdisjoint(seed_of(0, Span(start)) for start in range(1, 65))
    assert seed_of(0, Span(5, 12, "R", 2)) != seed_of(0, Span(5, 12, "B", 2))


@given(st.integers(0, 2**63), st.integers(1, 10**9))
def test_a_seed_is_a_plain_int_that_any_library_takes(run, start):
    seed = seed_of(run, Span(start))
    assert type(seed) is int
    assert 0 <= seed < 2**32
    assert seed == seed_of(run, Span(start))


def test_advancing_starts_who_is_new_retires_who_is_gone_and_keeps_the_rest_in_the_covers_order():
    pool, cover = pool_of(), MRI()
    for t in range(1, 40):
        pool.advance(cover.active(t))
        assert pool.spans == cover.active(t)
        assert set(pool.engine.instances) == set(pool.spans)
        assert pool.trained == {s: t - s.start for s in pool.spans}
        assert [pool.engine.instances[s].values[0] for s in pool.spans] == [seed_of(5, s) for s in pool.spans]
        pool.learn([[0]], np.array([0]))


def test_each_instance_is_asked_once_about_the_same_points():
    asked = []
    pool = pool_of(logits=lambda state, X: asked.append(state[0]) or np.zeros((len(X), 2)))
    pool.advance([Span(1), Span(2)])
    said = pool.scores([[0], [1]])
    said.of([Span(1)])
    said.of([Span(2), Span(1)])
    said.of([Span(1), Span(2)])
    assert asked == [seed_of(5, Span(1)), seed_of(5, Span(2))]


def test_a_copy_is_trained_and_advanced_without_the_original_noticing():
    pool = pool_of(learn=lambda state, X, y: [*state, "trained"])
    pool.advance([Span(1)])
    twin = pool.copy()
    twin.learn([[0]], np.array([0]))
    twin.advance([Span(1), Span(2)])
    assert (pool.trained, twin.trained) == ({Span(1): 0}, {Span(1): 1, Span(2): 0})
    assert "trained" not in pool.engine.instances[Span(1)].values
    assert "trained" in twin.engine.instances[Span(1)].values


def test_what_was_saved_goes_on_with_the_same_instances():
    pool = pool_of(learn=lambda state, X, y: [*state, len(y)])
    pool.advance([Span(1), Span(2)])
    pool.learn([[0], [0]], np.array([0, 1]))
    other = pool_of()
    other.advance([Span(9)])
    other.restore(pool.state(pickle=False), pickle=False)
    assert other.trained == pool.trained
    assert [other.engine.instances[s].values for s in pool.spans] == [[seed_of(5, s), 2] for s in pool.spans]


def test_the_plain_scheme_and_the_merged_pool_hand_start_1_the_same_seed():
    def first_seed(make):
        seeds = []
        make(FunctionLearner(seeds.append, lambda state, X, y: state, lambda state, X: np.zeros((len(X), 2))))
        return seeds[1]  # the first is the template's own

    assert first_seed(lambda learner: Plain(learner, seed=5)) == first_seed(lambda learner: AWE(learner, seed=5))
    assert first_seed(lambda learner: AWE(learner, seed=5)) == seed_of(5, Span(1))
    assert first_seed(lambda learner: AWE(learner, seed=5, horizon=8, literal=True)) == seed_of(5, Span(1, 8, "R", 1))
