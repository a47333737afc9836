"""Cross-entropy, IRM and CORAL of a mini-batch: numbers worked out by hand, and other people's way to compute them."""

from importlib.util import module_from_spec, spec_from_file_location
from math import log
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402

from spanwise.deep import CORAL, IRM, CrossEntropy  # noqa: E402
from spanwise.deep.objectives.irm import slope  # noqa: E402

spec = spec_from_file_location("reference", Path(__file__).with_name("reference.py"))
reference = module_from_spec(spec)
spec.loader.exec_module(reference)

LN3 = log(3)
CLOSE = {"rtol": 1e-12, "atol": 1e-13}


def value(objective, logits, y, group=None, known=None):
    logits = logits if isinstance(logits, torch.Tensor) else torch.tensor(logits, dtype=torch.float64)
    known = torch.ones(logits.shape[1], dtype=torch.bool) if known is None else known
    batch = {"y": torch.as_tensor(y)} | ({} if group is None else {"group": torch.as_tensor(group)})
    return objective.loss(logits, known, batch)


def drawn(rows, columns=4, groups=4, seed=0):
    """Logits, labels and groups at random."""
    torch.manual_seed(seed)
    logits = 3 * torch.randn(rows, columns, dtype=torch.float64)
    return logits, torch.randint(columns, (rows,)), torch.randint(groups, (rows,))


# --- Numbers by hand. Of two classes with logits (ln 3, 0) the first has probability 3/4: its loss is ln 4/3 and its
# slope by a factor on the logits 3/4 ln 3 - ln 3 = -1/4 ln 3; the other's are ln 4 and 3/4 ln 3.
SURE = [LN3, 0.0]
EVEN = [0.0, 0.0]


def test_cross_entropy_by_hand():
    assert value(CrossEntropy(), [SURE, SURE, EVEN], [0, 1, 0]).item() == pytest.approx(
        (log(4 / 3) + log(4) + log(2)) / 3, abs=1e-15
    )


def test_slopes_by_hand():
    logits = torch.tensor([SURE, SURE, EVEN], dtype=torch.float64)
    torch.testing.assert_close(
        slope(logits, torch.ones(2, dtype=torch.bool), torch.tensor([0, 1, 0])),
        torch.tensor([-LN3 / 4, 3 * LN3 / 4, 0.0], dtype=torch.float64),
        **CLOSE,
    )


def test_irm_by_hand():
    """Even and odd are places within a group, not in the mini-batch: the groups are mixed here."""
    logits, y, group = [SURE, SURE, EVEN, SURE, SURE, SURE], [0, 1, 0, 1, 0, 1], [0, 1, 0, 0, 1, 0]
    first = (log(4 / 3) + log(2) + log(4) + log(4)) / 4  # rows 0, 2, 3, 5: slopes -1/4, 0, 3/4, 3/4 times ln 3
    second = (log(4) + log(4 / 3)) / 2  # rows 1 and 4: 3/4, -1/4
    gains = (1 / 4) * (3 / 8) * LN3**2, (3 / 4) * (-1 / 4) * LN3**2
    expected = (first + second) / 2 + 5 * (gains[0] + gains[1]) / 2
    assert value(IRM(strength=5.0), logits, y, group).item() == pytest.approx(expected, abs=1e-14)


def test_irm_of_a_group_of_one_row_is_its_loss_alone():
    """Its odd half is empty: no gain, but it is a group in the mean, and an empty group is none."""
    logits, y, group = [SURE, SURE, SURE], [1, 0, 1], [0, 2, 2]
    expected = (log(4) + (log(4 / 3) + log(4)) / 2) / 2 + 7 * (0 + (-1 / 4) * (3 / 4) * LN3**2) / 2
    assert value(IRM(strength=7.0), logits, y, group).item() == pytest.approx(expected, abs=1e-14)
    assert value(IRM(strength=7.0), [SURE], [1], [2]).item() == pytest.approx(log(4), abs=1e-15)


LOGITS = [[0.0, 0.0], [0.0, 3.0], [2.0, 2.0], [3.0, 0.0], [3.0, 3.0], [5.0, 1.0]]
GROUPS = [0, 1, 0, 1, 1, 2]  # two rows, three rows, one row
TWO_AND_THREE = 1 + 26.5 / 4  # means (1, 1), (2, 2); covariances [2 2; 2 2], [3 -1.5; -1.5 3]
TWO_AND_ONE = 4 + 36.0  # the one's two logits as two numbers: mean 3, variance 8
THREE_AND_ONE = 1 + (2 * 25 + 2 * 90.25) / 4


@pytest.mark.parametrize(
    ("wildtime", "penalty"),
    [(False, TWO_AND_THREE), (True, (TWO_AND_THREE + TWO_AND_ONE + THREE_AND_ONE) / 3)],
    ids=["intended", "wildtime"],
)
def test_coral_by_hand(wildtime, penalty):
    y = [0, 1, 1, 0, 1, 0]
    loss = F.cross_entropy(torch.tensor(LOGITS, dtype=torch.float64), torch.tensor(y)).item()
    seen = value(CORAL(strength=0.5, wildtime=wildtime), LOGITS, y, GROUPS).item()
    assert seen == pytest.approx(loss + 0.5 * penalty, abs=1e-13)


@pytest.mark.parametrize("group", [[1, 1, 1], [0, 1, 2], [2, 2, 0]], ids=["one group", "only ones", "no second pair"])
def test_coral_without_two_groups_that_have_a_covariance_is_cross_entropy(group):
    logits, y = [SURE, EVEN, SURE], [0, 1, 1]
    assert value(CORAL(), logits, y, group) == value(CrossEntropy(), logits, y)


def test_coral_as_coded_compares_two_single_rows_as_two_bags_of_numbers():
    """(1, 5): mean 3, variance 8; (2, 2): mean 2, variance 0."""
    logits, y = [[1.0, 5.0], [2.0, 2.0]], [0, 1]
    loss = value(CrossEntropy(), logits, y).item()
    assert value(CORAL(wildtime=True), logits, y, [1, 0]).item() == pytest.approx(loss + 0.9 * (1 + 64), abs=1e-13)


# --- Random batches against the slow transcriptions; few rows for many groups, so that groups of one row are common.
SLOW = [
    (IRM(groups=4, strength=2.0), reference.irm(2.0)),
    (IRM(wildtime=True, strength=2.0), reference.irm(2.0)),
    (CORAL(groups=4, strength=2.0), reference.coral(2.0)),
    (CORAL(wildtime=True, strength=2.0), reference.coral_as_coded(2.0)),
]


@pytest.mark.parametrize("rows", [1, 2, 5, 8, 24])
@pytest.mark.parametrize(("ours", "slow"), SLOW, ids=["irm", "irm-wildtime", "coral", "coral-wildtime"])
def test_loss_and_gradient_are_those_of_the_transcription(ours, slow, rows):
    for seed in range(10):
        logits, y, group = drawn(rows, seed=seed)
        mine, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
        a, b = value(ours, mine, y, group), slow(theirs, y, group)
        torch.testing.assert_close(a, b, **CLOSE)
        torch.testing.assert_close(
            torch.autograd.grad(a, mine)[0], torch.autograd.grad(b, theirs)[0], rtol=1e-11, atol=1e-12
        )


def test_the_slope_is_what_autograd_finds_for_a_factor_on_the_logits():
    logits, y, _ = drawn(30)
    for row, label, mine in zip(logits, y, slope(logits, torch.ones(4, dtype=torch.bool), y), strict=True):
        factor = torch.ones((), dtype=torch.float64, requires_grad=True)
        expected = torch.autograd.grad(F.cross_entropy(factor * row, label), factor)[0]
        torch.testing.assert_close(mine, expected, **CLOSE)


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize(
    "objective", [CrossEntropy(), IRM(groups=4), CORAL(groups=4), IRM(wildtime=True), CORAL(wildtime=True)], ids=str
)
def test_columns_that_are_no_classes_change_neither_loss_nor_gradient(objective, width):
    for seed in range(5):
        narrow, y, group = drawn(7, columns=width, seed=seed)
        filler = torch.tensor([[60.0, -60.0, 0.0]]).expand(7, 3) + torch.randn(7, 3, dtype=torch.float64)
        wide, narrow = torch.cat([narrow, filler], 1).requires_grad_(), narrow.requires_grad_()
        a = value(objective, wide, y, group, known=torch.arange(width + 3) < width)
        b = value(objective, narrow, y, group)
        torch.testing.assert_close(a, b, **CLOSE)
        pulled, expected = torch.autograd.grad(a, wide)[0], torch.autograd.grad(b, narrow)[0]
        torch.testing.assert_close(pulled[:, :width], expected, rtol=1e-11, atol=1e-12)
        assert (pulled[:, width:] == 0).all()


def test_the_strengths_are_those_of_wild_time():
    assert (IRM().strength, CORAL().strength) == (1.0, 0.9)
