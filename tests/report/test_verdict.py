"""The verdict on figures that the tests make up: every answer there is, and what it must and must not claim."""

from dataclasses import replace

import pytest

from spanwise.evaluate.seeds import AcrossSeeds
from spanwise.report.gains import lead
from spanwise.report.verdict import Answer, verdict

PLAIN = AcrossSeeds(
    scheme="plain",
    seeds=5,
    rounds=50,
    accuracy=0.8,
    accuracy_sd=None,
    gain=0.0,
    gain_sd=None,
    gain_low=0.0,
    gain_high=0.0,
    gain_same_fold=0.0,
    wins=0,
    draws=50,
    losses=0,
    seconds=2.0,
)


def line(scheme, gain, half, **others):
    """A scheme that gains so many points, give or take `half`."""
    known = {"gain": gain, "gain_low": gain - half, "gain_high": gain + half, "gain_same_fold": gain}
    return replace(PLAIN, scheme=scheme, accuracy=0.8 + gain / 100, seconds=15.0, **{**known, **others})


def judged(*lines, told="awe"):
    return verdict([PLAIN, *lines], told)


@pytest.mark.parametrize(
    ("gain", "half", "answer"),
    [
        (3.0, 1.0, Answer.HELPED),
        (0.1, 0.05, Answer.HELPED),
        (0.0, 0.0, Answer.NO_HELP),
        (0.1, 0.3, Answer.NO_HELP),
        (-0.5, 0.6, Answer.NO_HELP),
        (0.5, 1.0, Answer.CLOSE),
        (-0.5, 2.0, Answer.CLOSE),
        (-3.0, 1.0, Answer.HURT),
    ],
)
def test_the_interval_decides(gain, half, answer):
    assert judged(line("awe", gain, half)).answer == answer


@pytest.mark.parametrize(
    ("gain", "half", "answer"),
    [
        (3.0, 1.0, Answer.HELPED),
        (0.64, 0.1, Answer.HELPED),
        (0.64, 0.3, Answer.CLOSE),
        (3.0, 2.6, Answer.CLOSE),
        (0.4, 0.3, Answer.HARDLY),
        (0.1, 0.05, Answer.HARDLY),
        (-0.4, 0.3, Answer.HARDLY),
        (0.1, 0.3, Answer.NO_HELP),
        (-0.64, 0.3, Answer.NO_HELP),
        (0.5, 1.0, Answer.CLOSE),
        (-3.0, 1.0, Answer.HURT),
    ],
)
def test_one_seed_has_to_clear_what_is_worth_having(gain, half, answer):
    """Its interval speaks of other rows, and chance in the learner moves the gain as well."""
    assert judged(line("awe", gain, half, seeds=1)).answer == answer


def test_a_small_gain_of_one_seed_is_called_about_the_same():
    found = judged(line("awe", 0.4, 0.3, seeds=1))
    assert found.headline == "Hardly: awe would have been about the same, at +0.40 points."
    assert "--seeds 5" in str(found)


@pytest.mark.parametrize("gain", [3.0, 0.1, -1.19])
@pytest.mark.parametrize("seeds", [1, 5])
@pytest.mark.parametrize("rounds", [1, 4])
def test_few_rounds_are_never_a_yes_or_a_no(gain, seeds, rounds):
    found = judged(line("awe", gain, 0.05, seeds=seeds, rounds=rounds))
    assert found.answer == Answer.FEW
    assert found.headline.startswith("Too few rounds to tell")
    assert f"{gain:+.2f} points" in found.headline
    assert "--every" in str(found)


@pytest.mark.parametrize(
    ("ensemble", "answer", "words"),
    [
        (0.5, Answer.HELPED, "more than an ensemble"),
        (2.8, Answer.ENSEMBLE, "about as well"),
        (6.0, Answer.ENSEMBLE, "does better"),
    ],
)
def test_a_gain_must_beat_that_of_plain_learners_averaged(ensemble, answer, words):
    found = judged(line("awe", 3.0, 0.5), line("plain-ensemble", ensemble, 0.5))
    assert found.answer == answer
    assert words in str(found)


def test_the_ensemble_itself_is_not_compared_with_itself():
    found = judged(line("plain-ensemble", 2.0, 0.5), told="plain-ensemble")
    assert found.answer == Answer.HELPED
    assert "ensemble of plain learners" not in str(found)


def test_a_yes_without_an_ensemble_beside_it_says_so_and_how_to_get_one():
    assert "not compared with an ensemble of plain learners" in str(judged(line("awe", 3.0, 1.0)))
    assert "--scheme awe --scheme plain-ensemble" in str(judged(line("awe", 3.0, 1.0)))
    assert "not compared" not in str(judged(line("awe", 3.0, 1.0), line("plain-ensemble", 0.0, 0.5)))
    assert "not compared" not in str(judged(line("awe", -3.0, 1.0)))


def test_a_scheme_that_does_not_help_is_told_beside_an_ensemble_that_does():
    found = judged(line("awe", 0.0, 0.2), line("plain-ensemble", 2.0, 0.5))
    assert found.answer == Answer.NO_HELP
    assert "does better: +2.00 points (+1.50 to +2.50)" in str(found)


def test_another_scheme_is_named_where_it_is_clearly_better_with_a_warning():
    found = str(judged(line("awe", 0.0, 0.3), line("saol", 3.0, 0.3), line("vote", 2.0, 0.3)))
    assert "saol did better" in found
    assert "vote" not in found
    assert "picked afterwards" in found
    assert "did better" not in str(judged(line("awe", 0.0, 0.3), line("saol", 0.2, 0.3)))


def test_figures_and_price_are_told():
    found = judged(line("awe", 3.0, 1.0))
    assert found.headline == "Yes: awe would have helped, by 3.00 points."
    text = str(found)
    assert "83.00 %" in text
    assert "80.00 %" in text
    assert "(95 % interval +2.00 to +4.00)" in text
    assert "7.5 times the plain learner's seconds (15.0 s against 2.0 s)" in text


def test_a_loss_is_called_one():
    found = judged(line("awe", -3.0, 1.0))
    assert found.headline == "No: awe would have hurt, by 3.00 points."
    assert "it loses 3.00 points" in str(found)


def test_what_the_held_back_rows_cost_is_told():
    assert "stands at +1.00 points" in str(judged(line("awe", 0.0, 0.3, gain_same_fold=1.0)))
    assert "holds rows back" not in str(judged(line("awe", 0.0, 0.3)))


def test_doubts_are_told():
    assert "Only 6 rounds" in str(judged(line("awe", 3.0, 1.0, rounds=6)))
    assert "Only" not in str(judged(line("awe", 3.0, 1.0)))
    one = "One seed: --seeds 5 shows how far chance moves this, where the learner draws at random."
    assert one in str(judged(line("awe", 3.0, 1.0, seeds=1)))
    assert "by 0.40 points (standard deviation over 3)" in str(judged(line("awe", 3.0, 1.0, seeds=3, gain_sd=0.4)))


def test_without_intervals_nothing_is_claimed():
    found = judged(line("awe", 3.0, 1.0, gain_low=None, gain_high=None), line("plain-ensemble", 1.0, 0.5))
    assert found.answer == Answer.UNKNOWN
    assert "cannot be told" in found.headline
    assert "interval" not in str(found)


def test_without_a_plain_learner_there_is_nothing_to_compare_with():
    unknown = dict.fromkeys(("gain", "gain_low", "gain_high", "gain_same_fold"))
    found = verdict([replace(PLAIN, scheme="awe", **unknown)], "awe")
    assert found.answer == Answer.UNKNOWN
    assert "nothing to compare with" in str(found)


def test_a_stream_of_one_round_is_too_short():
    unknown = dict.fromkeys(("accuracy", "gain", "gain_low", "gain_high", "gain_same_fold"))
    short = replace(PLAIN, scheme="awe", rounds=0, **unknown)
    found = verdict([replace(PLAIN, **unknown), short], "awe")
    assert found.answer == Answer.UNKNOWN
    assert "at least two rounds" in str(found)


def test_the_lead_over_another_scheme_is_as_uncertain_as_both():
    low, high = lead(line("awe", 3.0, 0.3), line("saol", 1.0, 0.4))
    assert (low, high) == (pytest.approx(1.5), pytest.approx(2.5))


def test_seeds_that_did_the_same_count_as_one():
    alone, five = (line("spanwise", 0.12, 0.05, seeds=seeds, gain_sd=sd) for seeds, sd in ((1, None), (5, 0.0)))
    assert judged(alone, told="spanwise").answer == judged(five, told="spanwise").answer == Answer.HARDLY
    assert "All 5 seeds did the same" in str(judged(five, told="spanwise"))
