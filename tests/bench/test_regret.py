"""The rates: fast copies are held to the originals, closed forms to samples, fits to lines that were drawn."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from spanwise.adapters.functions import FunctionLearner
from spanwise.bench import regret, regret_learned, regret_scripted
from spanwise.bench.regret_learned import accuracy, best_accuracy, centroids, regrets
from spanwise.bench.regret_scripted import GAPS, THRESHOLDS, Script, best_judged, refined, saol_shares
from spanwise.bench.regret_slopes import Cell, markdown, slopes
from spanwise.core.awe import Algorithm
from spanwise.core.choice import Single
from spanwise.core.evidence import HoldOut, Unjudged
from spanwise.core.pool import seed_of
from spanwise.core.refine import Doubling
from spanwise.core.spans import Cover, Span
from spanwise.core.tally import Count, Tally
from spanwise.errors import SettingError
from spanwise.schemes.choices import Best
from spanwise.schemes.losses import mixture
from spanwise.schemes.saol import SAOLWeights
from spanwise.schemes.windows import Hoeffding
from spanwise.streams import Abrupt

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "regret.json"
WINDOWS = {"awe": Doubling(), "awe-hoeffding": Hoeffding()}


class Two(Cover):
    """Two instances that live from the first round to the last; their starts only name them."""

    def __init__(self, rounds):
        self.rounds = rounds

    def starts(self, t):
        return [1, 2]

    def active(self, t):
        return [Span(1, self.rounds), Span(2, self.rounds + 1)]  # as long as each other: SAOL's rate asks for it


def scripted(cover):
    """Says what is written in its own column of X."""
    column = {seed_of(0, span): k for k, span in enumerate(cover.active(1))}

    def logits(k, X):
        said = X[:, k]
        return np.stack([1.0 - said, said], axis=1)

    return FunctionLearner(lambda seed: column.get(seed, 0), lambda k, X, y: k, logits)


def batch(right, points):
    """Rows of class 1 that instance k gets right in its first `right[k]` of them, and one more row to train on."""
    X = np.array([np.arange(points) < r for r in right], dtype=float).T
    return np.vstack([np.ones((1, 2)), X]), np.ones(points + 1, dtype=int)


def after_the_first(n, rng):
    return np.arange(1), np.arange(1, n)


def play(algorithm, right, points):
    """(2, rounds): the share of each instance in what is played, by the scheme as shipped."""
    algorithm.pool.begin_round(2)
    found = []
    for t in range(right.shape[-1]):
        weights = algorithm.current.weights
        if isinstance(algorithm.choice, SAOLWeights) and t:
            weights = mixture(algorithm.choice.weights, algorithm.pool, "saol").weights
        found.append([weights.get(span, 0.0) for span in algorithm.pool.spans])
        X, y = batch(right[:, t], points)
        if isinstance(algorithm.choice, SAOLWeights):
            X, y = X[1:], y[1:]
        algorithm.learn(X, y)
    return np.array(found).T


@pytest.mark.parametrize("scheme", THRESHOLDS)
@pytest.mark.parametrize("points", [7, 900, 200_000])
def test_the_fast_doubling_test_is_the_one_that_ships(scheme, points):
    rng = np.random.default_rng(points)
    for rounds in (1, 2, 5, 8, 31, 64):
        level = np.where(np.arange(rounds) < rounds // 2, 0.3, rng.choice([0.3, 0.35, 0.9]))
        right = rng.binomial(points, level)
        tally = Tally([Count(points, int(r), 0, 0) for r in right])
        shipped = WINDOWS[scheme].estimate(tally, None, rounds).accuracy
        assert refined(np.append(0, right).cumsum(), points, THRESHOLDS[scheme]) == pytest.approx(shipped, abs=1e-12)


@pytest.mark.parametrize("scheme", THRESHOLDS)
def test_the_fast_choice_is_that_of_the_algorithm(scheme):
    script = Script(phases=2, length=12, points=60, draws=2)
    right = script.right()
    shares = best_judged(right, script.points, THRESHOLDS[scheme])
    for gap, draw in np.ndindex(4, 2):
        cover = Two(script.rounds)
        algorithm = Algorithm(
            scripted(cover),
            cover=cover,
            evidence=HoldOut(split=after_the_first),
            window=WINDOWS[scheme],
            choice=Best(),
        )
        assert play(algorithm, right[gap, draw], script.points).tolist() == shares[gap, draw].tolist()


def test_the_fast_weights_are_those_of_saol():
    script = Script(phases=1, length=20, points=50, draws=2)
    right = script.right()
    shares = saol_shares(right, script.points)
    for gap, draw in np.ndindex(3, 2):
        cover = Two(script.rounds)
        algorithm = Algorithm(
            scripted(cover), cover=cover, evidence=Unjudged(), choice=SAOLWeights(random=True), untrained=True
        )
        shipped = play(algorithm, right[gap, draw], script.points)
        assert shipped[:, 1:] == pytest.approx(shares[gap, draw][:, 1:])  # in round 1 nothing has been weighed yet


def test_a_mixture_of_two_says_what_the_heavier_one_says():
    script = Script(phases=1, length=30, points=50, draws=4)
    drawn = saol_shares(script.right(), script.points)
    mixed = saol_shares(script.right(), script.points, mixed=True)
    assert set(np.unique(mixed)) <= {0.0, 0.5, 1.0}
    assert mixed[..., 0].tolist() == drawn[..., 0].tolist()


def test_the_better_instance_of_one_phase_is_the_worse_of_the_next():
    script = Script(phases=2, length=3, points=10_000, draws=2)
    assert script.better.tolist() == [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
    right = script.right()[0] / script.points
    assert np.take_along_axis(right, script.better[:, None], axis=1) == pytest.approx(0.98, abs=0.01)
    worse_everywhere = np.zeros((len(GAPS), 2, 2, 6))
    np.put_along_axis(worse_everywhere, 1 - script.better[None, :, None, :], 1.0, axis=2)
    assert script.regret(worse_everywhere)[0].tolist() == np.full((2, 6), GAPS[0]).tolist()
    assert not script.regret(1 - worse_everywhere).any()


def test_accuracy_without_sampling_is_what_a_large_sample_gives():
    stream = Abrupt(rounds=3, size=40, features=regret_learned.FEATURES, classes=range(2), at=(3,))
    algorithm = regret_learned.awe(centroids(), 0)
    algorithm.pool.begin_round(2)
    for X, y in stream:
        algorithm.learn(X, y)
    concept = stream.concept(3)
    X, y = concept.draw(100_000, np.random.default_rng(0))
    said = algorithm.scores(X)
    for model in [*map(Single, algorithm.pool.spans[:3]), *algorithm.candidates]:
        sampled = (model.scores(said).argmax(axis=1) == y).mean()
        assert accuracy(model, algorithm, concept) == pytest.approx(sampled, abs=0.006)
    assert best_accuracy(concept) == pytest.approx((concept.best(X) == y).mean(), abs=0.004)


@pytest.mark.parametrize("scheme", regret_learned.SCHEMES)
def test_nothing_is_better_than_the_best_classifier(scheme):
    against_instance, against_classifier = regrets(scheme, held=10, rounds=12, shifts=[7], seed=1)
    assert (against_classifier > 0).all()
    assert (against_instance <= against_classifier).all()
    assert against_classifier[6] > 0.1  # the round of the shift is predicted with what was learned before it


def test_a_line_that_was_drawn_is_found():
    def cost(held, rounds):
        return np.full((1, 5), 3.0 * held**-0.25 * rounds**-0.75)

    cells = [Cell("scripted, first", False, "awe", m, r, 1, cost(m, r)) for m in (4, 16, 64) for r in (8, 32)]
    by_rounds, by_held = slopes(cells)
    assert (by_rounds["in"], by_held["in"]) == ("rounds", "held")
    assert by_rounds["slope"] == pytest.approx(-0.75)
    assert by_held["slope"] == pytest.approx(-0.25)
    assert (by_rounds["verdict"], by_held["verdict"]) == ("steeper", "flatter")
    assert by_rounds["low"] == pytest.approx(by_rounds["high"])


def test_what_has_no_logarithm_is_left_out_of_the_fit():
    costs = [np.full((1, 5), 1.0 * phases) for phases in (1, 2, 4, 8)]
    costs.append(np.array([[-1.0, -1.0, 2.0, 2.0, 2.0]]))
    cells = [
        Cell("dynamic, scripted", False, "awe", 8, 64, phases, cost)
        for phases, cost in zip((1, 2, 4, 8, 16), costs, strict=True)
    ]
    (row,) = slopes(cells)
    assert row["cells"] == 3  # not the one without a shift, nor the one that may be 0
    assert row["slope"] == pytest.approx(1.0)
    assert slopes(cells[:3]) == []


def test_the_worst_gap_is_found_anew_in_every_resample():
    cell = Cell("scripted, first", False, "awe", 4, 8, 1, np.array([[1.0, 0.0], [0.0, 1.2]]))
    assert cell.regret() == pytest.approx(0.6)
    assert cell.regret(np.array([[1.0], [0.0]])).tolist() == [1.0]


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regret, "HELD", (32, 2_048))
        patch.setattr(regret, "HELD_LEARNED", (5, 45))
        patch.setattr(regret, "DRAWS", 30)
        patch.setattr(regret, "STREAMS", 1)
        lines = []
        found = regret.run(seeds=1, rounds=128, progress=lines.append)
    assert lines
    return found


def slope(rows, setting, scheme, axis):
    kept = [row for row in rows if row["kind"] == "slope" and not row["first"]]
    return next(r["slope"] for r in kept if (r["setting"], r["scheme"], r["in"]) == (setting, scheme, axis))


def test_selection_gains_by_what_is_held_out_and_saol_does_not(rows):
    assert slope(rows, "scripted, first", "awe", "held") == pytest.approx(-0.5, abs=0.12)
    assert slope(rows, "scripted, shift", "awe-hoeffding", "held") == pytest.approx(-0.5, abs=0.12)
    assert slope(rows, "scripted, first", "saol", "held") == pytest.approx(0, abs=0.02)
    assert slope(rows, "scripted, first", "saol", "rounds") == pytest.approx(-0.5, abs=0.1)


def test_the_printed_test_does_not_gain_by_it_after_a_shift(rows):
    assert slope(rows, "learned, best classifier", "awe", "held") == pytest.approx(0, abs=0.1)
    assert slope(rows, "learned, best classifier", "awe-hoeffding", "held") < -0.2


def test_rows_are_plain_values_and_make_a_table(rows):
    assert json.loads(json.dumps(rows)) == rows
    assert {row["setting"] for row in rows} <= set(regret.SETTINGS)
    assert all(row["low"] <= row["regret"] * (1 + 1e-9) for row in rows if row["kind"] == "cell" and row["gap"] is None)
    table = markdown(rows).splitlines()
    assert len({line.count("|") for line in table}) == 1
    assert len(table) > 20


def test_main_writes_what_was_measured(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(regret, "run", lambda seeds, progress: rows)
    pytest.importorskip("matplotlib")
    regret.main(1, tmp_path / "out")
    assert (tmp_path / "out" / "regret.png").stat().st_size > 10_000
    assert json.loads((tmp_path / "out" / "regret.json").read_text())["rows"] == rows
    assert capsys.readouterr().out == (tmp_path / "out" / "regret.md").read_text() == markdown(rows)


@pytest.mark.parametrize(("seeds", "rounds"), [(0, 256), (1, 64), (1, 200)])
def test_too_little_to_fit_is_refused(seeds, rounds):
    with pytest.raises(SettingError, match="power of two"):
        regret.run(seeds, rounds)


def test_it_imports_without_matplotlib_and_sklearn():
    absent = "import sys; sys.modules.update(matplotlib=None, sklearn=None, scipy=None)"
    subprocess.run([sys.executable, "-c", f"{absent}; import spanwise.bench.regret"], check=True)


def test_gaps_leave_room_for_both_accuracies():
    assert regret_scripted.GAPS[0] < 1
    assert (np.diff(GAPS) < 0).all()


def test_the_table_of_the_page_is_the_one_that_was_measured():
    measured = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    assert markdown(measured) in (ROOT / "docs" / "regret.md").read_text(encoding="utf-8")
