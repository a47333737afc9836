"""Rows of any container: counted, taken, joined, checked, and packed without pickle."""

import numpy as np
import pytest

from spanwise import snapshot
from spanwise.core import packing, rows
from spanwise.errors import FeatureError, SnapshotError

pd, torch, sparse = (pytest.importorskip(name) for name in ("pandas", "torch", "scipy.sparse"))

VALUES = np.array([[0.0, 1.5, 2.0], [3.0, 0.0, 5.0], [6.0, 7.0, 0.0], [9.0, 10.0, 11.0]])
FRAME = pd.DataFrame(VALUES, columns=["a", "b", "c"])
MIXED = pd.DataFrame({"n": [1, 2, 3, 4], "x": VALUES[:, 1], "s": list("wxyz"), "b": [True, False, True, True]})
CONTAINERS = {
    "ndarray": VALUES,
    "ndarray, 1-d": VALUES[:, 1],
    "ndarray of strings": np.array(["rain", "sun", "", "snow"]),
    "ndarray of objects": np.array(["rain", 2, None, ("a", 1)], dtype=object),
    "images": np.arange(4 * 2 * 3, dtype=np.uint8).reshape(4, 2, 3),
    "frame": FRAME,
    "frame, other index": FRAME.set_axis([9, 7, 9, 0]),
    "frame, mixed": MIXED,
    "frame, category": pd.DataFrame({"c": pd.Categorical(["u", "v", "u", "v"])}),
    "csr matrix": sparse.csr_matrix(VALUES),
    "csr array": sparse.csr_array(VALUES),
    "csc matrix": sparse.csc_matrix(VALUES),
    "tensor": torch.tensor(VALUES),
    "tensor of integers": torch.arange(8).reshape(4, 2),
    "list of strings": ["rain in the north", "", "sun", "snow"],
    "list of lists": VALUES.tolist(),
    "list of dicts": [{"a": 1.0, "b": "x"}, {"a": 2.0}, {}, {"b": "y", "c": 3}],
    "dict of columns": {"age": np.array([31, 40, 5, 7]), "name": list("abcd"), "x": torch.ones(4, 2), "f": FRAME},
}
every = pytest.mark.parametrize("X", CONTAINERS.values(), ids=CONTAINERS)


def plain(X):
    """Any container as nested plain values, one entry a row."""
    if isinstance(X, dict):
        return {name: plain(column) for name, column in X.items()}
    if isinstance(X, pd.DataFrame):
        return [tuple(row) for row in X.itertuples(index=False)]
    if sparse.issparse(X):
        return X.toarray().tolist()
    return X if isinstance(X, list) else X.tolist()


def picked(X, positions):
    whole = plain(X)
    if isinstance(whole, dict):
        return {name: picked(column, positions) for name, column in X.items()}
    return [whole[i] for i in positions]


@every
def test_rows_are_counted(X):
    assert rows.count(X) == 4


@every
@pytest.mark.parametrize("positions", [[0, 1, 2, 3], [3, 0], [2], [1, 1, 1], []], ids=str)
def test_rows_are_taken_by_position_in_the_order_asked_for(X, positions):
    taken = rows.take(X, np.array(positions, dtype=np.int64))
    assert rows.count(taken) == len(positions)
    assert plain(taken) == picked(X, positions)


@every
def test_taking_leaves_the_rest_alone(X):
    before = str(plain(X))
    rows.take(X, np.array([1, 0]))
    assert str(plain(X)) == before


@every
def test_parts_joined_again_are_the_whole_in_the_order_joined(X):
    parts = [rows.take(X, np.array(positions, dtype=np.int64)) for positions in ([2, 0], [3], [1])]
    joined = rows.join(parts)
    assert plain(joined) == picked(X, [2, 0, 3, 1])
    assert rows.layout(joined) == rows.layout(rows.take(X, np.array([0, 1, 2, 3])))
    assert plain(rows.join(parts[:1])) == picked(X, [2, 0])


@every
def test_a_fold_fits_the_batch_it_was_taken_from(X):
    rows.check_layout(rows.layout(X), rows.layout(rows.take(X, np.array([0, 2]))), learning=True)


@every
def test_finite_features_pass(X):
    rows.check_finite(X)


@every
def test_packed_rows_come_back_from_a_snapshot_as_they_were(X, tmp_path):
    fold = rows.take(X, np.array([0, 2, 3]))
    snapshot.write(tmp_path / "fold", {"X": packing.pack(fold)})
    back = packing.unpack(snapshot.read(tmp_path / "fold")["X"])
    assert plain(back) == plain(fold)
    assert type(back) is type(fold)
    assert rows.layout(back) == rows.layout(fold)
    if isinstance(fold, pd.DataFrame):
        assert back.dtypes.tolist() == fold.dtypes.tolist()
    elif not isinstance(fold, list | dict):
        assert back.dtype == fold.dtype


def test_rows_that_cannot_be_packed_say_so():
    with pytest.raises(SnapshotError, match="set cannot be written"):
        packing.pack({1, 2})
    with pytest.raises(SnapshotError, match="unknown kind, 'parquet'"):
        packing.unpack({"kind": "parquet"})


def test_categories_that_a_fold_lacks_are_still_known_after_a_snapshot():
    """A learner that encodes by category must see the same codes before and after."""
    frame = pd.DataFrame({"c": pd.Categorical(["v", "v"], categories=["u", "v", "w"], ordered=True)})
    back = packing.unpack(packing.pack(frame))
    assert back["c"].cat.codes.tolist() == frame["c"].cat.codes.tolist() == [1, 1]


HOLED = {
    "ndarray": (np.array([[0.0, 1.0], [2.0, np.nan]]), "row 1, column 1"),
    "ndarray, infinite": (np.array([[0.0, -np.inf], [2.0, 1.0]]), "row 0, column 1"),
    "float32": (np.array([[0.0], [np.inf]], dtype=np.float32), "row 1, column 0"),
    "images": (np.where(np.arange(8).reshape(2, 2, 2) == 6, np.nan, 0.0), "row 1, column 1, column 0"),
    "frame": (pd.DataFrame({"n": [1, 2], "s": ["a", "b"], "x": [0.5, np.nan]}), "row 1, column 2"),
    "frame, nullable": (pd.DataFrame({"x": pd.array([0.5, None], dtype="Float64")}), "row 1, column 0"),
    "csr": (sparse.csr_matrix([[0.0, 1.0], [np.nan, 0.0]]), "row 1, column 0"),
    "csc array": (sparse.csc_array([[0.0, 1.0], [np.inf, 0.0]]), "row 1, column 0"),
    "tensor": (torch.tensor([[0.0, 1.0], [2.0, float("nan")]]), "row 1, column 1"),
    "list of lists": ([[0.0, 1.0], [float("nan"), 1.0]], "row 1, column 0"),
    "list of dicts": ([{"a": 1.0, "b": "x"}, {"a": float("inf")}], "row 1, column a"),
    "list of dicts, a later name": ([{"a": 1.0}, {"a": 1.0, "b": float("nan")}], "row 1, column b"),
    "list of dicts, numpy numbers": ([{"a": 1.0}, {"a": np.float32("nan")}], "row 1, column a"),
    "dict of columns": ({"x": [0.0, 1.0], "y": np.array([0.0, np.nan])}, "column 'y' holds NaN or infinity.*row 1"),
    "dict of frames": ({"f": pd.DataFrame({"x": [0.0, np.inf]})}, "column 'f'.*row 1, column 0"),
}


@pytest.mark.parametrize(("X", "where"), HOLED.values(), ids=HOLED)
def test_nan_and_infinity_are_refused_with_their_place(X, where):
    with pytest.raises(FeatureError, match=where):
        rows.check_finite(X)


def test_columns_of_different_length_are_refused_by_name():
    with pytest.raises(FeatureError, match="'a': 2, 'b': 3"):
        rows.count({"a": [1, 2], "b": [1, 2, 3]})


@pytest.mark.parametrize("X", [3, None, np.float64(2.0), np.array(5), iter(range(3))], ids=lambda X: type(X).__name__)
def test_what_has_no_rows_is_refused(X):
    with pytest.raises(FeatureError, match="no rows to count"):
        rows.count(X)


def test_rows_of_different_length_are_refused():
    with pytest.raises(FeatureError, match="rows differ in length"):
        rows.check_finite([[1.0, 2.0], [1.0]])


CHANGED = {
    "width": (VALUES, VALUES[:, :2], r"shape \(2,\), earlier rounds had \(3,\)"),
    "width of a list": ([[1, 2]], [[1, 2, 3]], r"shape \(3,\), earlier rounds had \(2,\)"),
    "width of a sparse": (sparse.csr_array(VALUES), sparse.csr_array(VALUES[:, :1]), "earlier rounds had"),
    "names": (FRAME, FRAME.rename(columns={"b": "q"}), r"missing \['b'\], unexpected \['q'\]"),
    "order of names": (FRAME, FRAME[["b", "a", "c"]], "another order"),
    "columns of a dict": ({"a": [1], "b": [2]}, {"a": [1], "c": [2]}, r"missing \['b'\], unexpected \['c'\]"),
    "a column less": (FRAME, FRAME[["a", "b"]], r"missing \['c'\]"),
}


@pytest.mark.parametrize(("seen", "now", "message"), CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("learning", [True, False])
def test_features_that_differ_from_earlier_rounds_are_refused(seen, now, message, learning):
    with pytest.raises(FeatureError, match=message):
        rows.check_layout(rows.layout(seen), rows.layout(now), learning=learning)


def test_another_container_may_predict_but_not_learn():
    seen, now = rows.layout(FRAME), rows.layout(VALUES)
    rows.check_layout(seen, now, learning=False)
    with pytest.raises(FeatureError, match="came as ndarray, earlier rounds as DataFrame"):
        rows.check_layout(seen, now, learning=True)


def test_columns_of_a_dict_may_come_in_any_order():
    rows.check_layout(rows.layout({"a": [1], "b": [2]}), rows.layout({"b": [2], "a": [1]}), learning=True)


@pytest.mark.parametrize("kind", [sparse.csc_matrix, sparse.coo_array, sparse.csr_array])
def test_sparse_is_sparse_whatever_its_format(kind):
    rows.check_layout(rows.layout(sparse.csr_matrix(VALUES)), rows.layout(kind(VALUES)), learning=True)
