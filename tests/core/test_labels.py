"""Labels of any hashable type to class numbers and back."""

from datetime import date
from decimal import Decimal
from enum import Enum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.core.labels import Labels
from spanwise.errors import LabelError, SettingError

pd, torch = (pytest.importorskip(name) for name in ("pandas", "torch"))

Colour = Enum("Colour", "RED GREEN")
scalars = st.one_of(
    st.text(max_size=3), st.integers(-5, 5), st.booleans(), st.tuples(st.integers(0, 2), st.text(max_size=1))
)


def numbered(y, labels):
    positions, numbers = labels.number(y)
    return positions.tolist(), numbers.tolist()


@given(st.lists(st.one_of(scalars, st.none(), st.just(float("nan"))), min_size=1, max_size=20))
def test_any_hashables_are_numbered_by_first_appearance_and_come_back(y):
    present = [i for i, value in enumerate(y) if value is not None and value == value]
    labels = Labels()
    if not present:
        with pytest.raises(LabelError, match="every label in this batch is missing"):
            labels.number(y)
        return
    positions, numbers = numbered(y, labels)
    order = list(dict.fromkeys(y[i] for i in present))
    assert positions == present
    assert labels.classes == order
    assert numbers == [order.index(y[i]) for i in present]
    assert list(labels.names(np.array(numbers))) == [y[i] for i in present]


@given(st.lists(st.lists(scalars, min_size=1, max_size=5), min_size=1, max_size=6))
def test_classes_grow_round_by_round_and_numbers_never_change(batches):
    labels = Labels()
    for batch in batches:
        before = list(labels.classes)
        labels.number(batch)
        assert labels.classes[: len(before)] == before
    assert labels.classes == list(dict.fromkeys(value for batch in batches for value in batch))
    assert len(labels) == len(labels.classes)


ARRAYS = {
    "integers": (np.array([7, 3, 7]), [7, 3]),
    "unsigned": (np.array([7, 3, 7], dtype=np.uint8), [7, 3]),
    "booleans": (np.array([True, False, True]), [True, False]),
    "floats": (np.array([1.5, -0.5, 1.5]), [1.5, -0.5]),
    "strings": (np.array(["sun", "rain", "sun"]), ["sun", "rain"]),
    "bytes": (np.array([b"sun", b"rain", b"sun"]), [b"sun", b"rain"]),
    "objects": (np.array(["sun", 2, "sun"], dtype=object), ["sun", 2]),
    "days": (np.array(["2020-02-01", "2020-01-01", "2020-02-01"], dtype="M8[D]"), [date(2020, 2, 1), date(2020, 1, 1)]),
    "series": (pd.Series([7, 3, 7], index=[5, 5, 5]), [7, 3]),
    "series of strings": (pd.Series(["sun", "rain", "sun"]), ["sun", "rain"]),
    "nullable series": (pd.Series([7, 3, 7], dtype="Int64"), [7, 3]),
    "category series": (pd.Series(["sun", "rain", "sun"], dtype="category"), ["sun", "rain"]),
    "categorical": (pd.Categorical([7, 3, 7], categories=[1, 3, 7]), [7, 3]),
    "index": (pd.Index(["sun", "rain", "sun"]), ["sun", "rain"]),
    "tensor": (torch.tensor([7, 3, 7]), [7, 3]),
    "tensor of booleans": (torch.tensor([True, False, True]), [True, False]),
    "tuple": (("sun", "rain", "sun"), ["sun", "rain"]),
    "range": (range(2), [0, 1]),
    "enum": ([Colour.GREEN, Colour.RED, Colour.GREEN], [Colour.GREEN, Colour.RED]),
    "tuples of one length": ([(1, "a"), (0, "b"), (1, "a")], [(1, "a"), (0, "b")]),
    "tuples of many lengths": ([(1,), (), (1,)], [(1,), ()]),
    "mixed types": (["1", 1, "1"], ["1", 1]),
    "frozen sets": ([frozenset("ab"), frozenset(), frozenset("ba")], [frozenset("ab"), frozenset()]),
    "numpy scalars": ([np.int64(7), np.int64(3), np.int64(7)], [7, 3]),
    "numpy strings": (list(np.array(["sun", "rain", "sun"])), ["sun", "rain"]),
}


@pytest.mark.parametrize(("y", "classes"), ARRAYS.values(), ids=ARRAYS)
def test_whatever_holds_the_labels_the_classes_are_plain_values(y, classes):
    labels = Labels()
    positions, numbers = numbered(y, labels)
    assert positions == list(range(len(y)))
    assert numbers == [0, 1, 0][: len(y)]
    assert labels.classes == classes
    assert [type(c) for c in labels.classes] == [type(c) for c in classes]
    assert list(labels.names(np.array([1, 0]))) == [classes[1], classes[0]]


MISSING = {
    "None": (["a", None, "b"], 1),
    "NaN in a list": (["a", float("nan"), "b"], 1),
    "numpy's NaN in a list": ([1, np.float32("nan"), 2], 1),
    "NaN in an array": (np.array([1.0, np.nan, 2.0]), 1),
    "NaN among objects": (np.array(["a", np.nan, "b"], dtype=object), 1),
    "pandas NA": (["a", pd.NA, "b"], 1),
    "pandas NaT": ([date(2020, 1, 1), pd.NaT, date(2020, 1, 2)], 1),
    "NaT": (np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="M8[D]"), 1),
    "nullable series": (pd.Series([7, None, 3], dtype="Int64"), 1),
    "string series": (pd.Series(["a", None, "b"], dtype="string"), 1),
    "series": (pd.Series(["a", None, "b"]), 1),
    "float series": (pd.Series([1.0, None, 2.0]), 1),
    "category series": (pd.Series(["a", None, "b"], dtype="category"), 1),
    "tensor": (torch.tensor([1.0, float("nan"), 2.0]), 1),
}


@pytest.mark.parametrize(("y", "at"), MISSING.values(), ids=MISSING)
def test_missing_labels_are_left_out(y, at):
    labels = Labels()
    assert numbered(y, labels) == ([i for i in range(3) if i != at], [0, 1])
    assert len(labels) == 2


def test_a_label_is_the_same_class_whatever_number_type_it_came_in():
    labels = Labels()
    for y in ([3, 0], np.array([0, 3]), np.array([3.0]), [np.int8(3)], torch.tensor([0]), [Decimal(3)]):
        labels.number(y)
    assert labels.classes == [3, 0]


@pytest.mark.parametrize(
    ("classes", "kind"), [(["b", "a"], "U"), ([3, 1], "i"), ([0.5, 1.5], "f"), ([True, False], "b"), (["a", 1], "O")]
)
def test_names_come_as_an_array_of_the_labels_own_type(classes, kind):
    names = Labels(classes).names(np.array([1, 0, 1]))
    assert names.dtype.kind == kind
    assert names.tolist() == [classes[1], classes[0], classes[1]]


def test_given_classes_keep_their_order_and_do_not_grow():
    labels = Labels(["z", "a", np.str_("m")])
    assert numbered(["a", "m", None, "z"], labels) == ([0, 1, 3], [1, 2, 0])
    with pytest.raises(LabelError, match=r"'q' is not among the classes given, \['z', 'a', 'm'\]"):
        labels.number(["a", "q"])
    assert labels.classes == ["z", "a", "m"]


@given(st.lists(st.integers(-2, 6), min_size=1), st.integers(1, 5), st.sampled_from(["int8", "int64", "float64"]))
def test_classes_that_are_their_own_numbers_are_numbered_as_all_others_are(y, known, dtype):
    ours, theirs = Labels(range(known), fixed=False), Labels([str(i) for i in range(known)], fixed=False)
    _, numbers = ours.number(np.array(y, dtype=dtype))
    assert numbers.tolist() == theirs.number([str(label) for label in y])[1].tolist()
    assert [str(label).removesuffix(".0") for label in ours.classes] == theirs.classes


def test_a_copy_grows_alone():
    labels = Labels()
    labels.number(["a"])
    twin = labels.copy()
    twin.number(["b"])
    assert (labels.classes, twin.classes) == (["a"], ["a", "b"])
    with pytest.raises(LabelError):
        Labels(["a"]).copy().number(["b"])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a"], ["b"]], "labels must be hashable"),
        ([{"a": 1}], "labels must be hashable"),
        ([np.array([1]), np.array([2])], "labels must be hashable"),
        (np.zeros((2, 1), dtype=int), r"shape \(2, 1\).*shape \(n,\)"),
        (np.array(3), r"shape \(\)"),
        (pd.DataFrame({"y": [1, 2]}), r"shape \(2, 1\)"),
        (np.array([1j, 2j]), "complex128 cannot be classes"),
        ("abc", "labels came as str"),
        (5, "labels came as int"),
        (None, "labels came as NoneType"),
        ([None, float("nan")], "every label in this batch is missing"),
        (np.array([np.nan]), "every label in this batch is missing"),
    ],
    ids=str,
)
def test_what_cannot_be_labels_is_refused(y, message):
    with pytest.raises(LabelError, match=message):
        Labels().number(y)


def test_a_class_given_twice_or_unhashable_is_refused():
    with pytest.raises(SettingError, match="names a class twice"):
        Labels(["a", "b", "a"])
    with pytest.raises(SettingError, match="not hashable"):
        Labels([["a"]])
