"""A frozen backbone: each row goes through it once, whatever the pool does, and only heads are trained."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

from spanwise.deep.networks.cnn import CNN
from spanwise.deep.networks.frozen import ROWS_AT_ONCE, Frozen, row_keys
from spanwise.deep.networks.mlp import MLP
from spanwise.deep.networks.transformer import Transformer
from spanwise.errors import FeatureError, LearnerError, SettingError


class Counting(nn.Module):
    """Twice its input; remembers how many rows it saw, and in which mode."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.seen = []

    def forward(self, x):
        assert not self.training
        assert not torch.is_grad_enabled()
        self.seen.append(len(x))
        return self.scale * x


class Words(Counting):
    """Rows of words, which `prepare` turns into their lengths."""

    def prepare(self, X):
        return torch.tensor([[float(len(word))] for word in X])


X = np.arange(12.0).reshape(4, 3)


# Each row once


def test_a_row_goes_through_the_backbone_once():
    backbone = Counting()
    frozen = Frozen(backbone)
    assert frozen.prepare(X).tolist() == (2 * X).tolist()
    assert frozen.prepare(X[::-1]).tolist() == (2 * X[::-1]).tolist()
    assert backbone.seen == [4]
    both = np.concatenate([X[:2], X[:2] + 100, X[:2] + 100])
    assert frozen.prepare(both).tolist() == (2 * both).tolist()
    assert backbone.seen == [4, 2]


def test_hold_out_rows_scored_every_round_cost_nothing_more():
    backbone = Counting()
    frozen, held = Frozen(backbone), []
    for round_number in range(10):
        fresh = 1000 * round_number + np.arange(60.0).reshape(20, 3)
        frozen.prepare(fresh)
        held.append(fresh[:4])
        frozen.prepare(np.concatenate(held))
    assert sum(backbone.seen) == 10 * 20


def test_many_rows_go_in_several_passes():
    backbone = Counting()
    many = np.arange(2.0 * ROWS_AT_ONCE + 1).reshape(-1, 1)
    assert Frozen(backbone).prepare(many).tolist() == (2 * many).tolist()
    assert backbone.seen == [ROWS_AT_ONCE, ROWS_AT_ONCE, 1]


def test_rows_not_asked_for_longest_are_dropped_first():
    backbone = Counting()
    frozen = Frozen(backbone, cache=3)
    frozen.prepare(X[:3])
    frozen.prepare(X[:1])  # now the second row is the oldest
    frozen.prepare(X[3:])
    backbone.seen.clear()
    frozen.prepare(X[[0, 2, 3]])
    assert backbone.seen == []
    frozen.prepare(X[1:2])
    assert backbone.seen == [1]
    assert len(frozen.backbone.remembered) == 3


def test_a_batch_larger_than_the_cache_is_answered_whole():
    for cache in (0, 2):
        backbone = Counting()
        frozen = Frozen(backbone, cache=cache)
        assert frozen.prepare(X).tolist() == (2 * X).tolist()
        assert len(frozen.backbone.remembered) == cache
        frozen.prepare(X)
        assert backbone.seen == [4, 4 - cache]


def test_an_array_that_was_changed_is_run_again():
    frozen, changing = Frozen(Counting()), X.copy()
    frozen.prepare(changing)
    changing[0] = -1.0
    assert frozen.prepare(changing)[0].tolist() == [-2.0, -2.0, -2.0]


def test_a_failure_of_the_backbone_leaves_nothing_behind():
    backbone = Counting()
    frozen = Frozen(backbone)
    with pytest.raises(FeatureError):
        frozen.prepare(np.array([["a"]]))
    assert not frozen.backbone.remembered
    assert frozen.prepare(X).shape == (4, 3)


# Only heads


@pytest.mark.parametrize(("hidden", "weights"), [((), 2), ((5,), 4)])
def test_the_backbone_is_no_part_of_what_is_trained(hidden, weights):
    frozen = Frozen(MLP((8,), features=3), hidden=hidden, classes=3)
    logits = frozen(frozen.prepare(X))
    assert logits.shape == (4, 3)
    assert len(list(frozen.parameters())) == len(frozen.state_dict()) == weights
    assert [layer for layer in frozen.modules() if isinstance(layer, nn.Linear)][-1] is frozen.head.head


def test_copies_share_the_backbone_and_what_it_said_but_not_the_head():
    backbone = Counting()
    frozen = Frozen(backbone, classes=3)
    before = frozen(frozen.prepare(X))
    copy = deepcopy(frozen)
    assert copy.backbone is frozen.backbone
    copy.prepare(X)
    assert backbone.seen == [4]
    for weight in copy.parameters():
        weight.data.add_(1.0)
    assert torch.equal(frozen(frozen.prepare(X)), before)


def test_a_pickle_comes_back_with_its_backbone():
    frozen = Frozen(MLP((8,), features=3), classes=3)
    before = frozen(frozen.prepare(X))
    back = pickle.loads(pickle.dumps(frozen))
    assert torch.equal(back(back.prepare(X)), before)


def test_training_mode_is_for_the_head_alone():
    backbone = MLP((50,), features=3, dropout=0.5)
    frozen = Frozen(backbone, cache=0).train()
    assert torch.equal(frozen.prepare(X), frozen.prepare(X))
    assert frozen.training
    backbone.train()  # somebody else's doing
    assert torch.equal(frozen.prepare(X), frozen.prepare(X))


def test_a_stack_of_heads_has_the_gradients_of_a_loop():
    frozen = Frozen(MLP((8,), features=3).double(), hidden=(5,), classes=3).double()
    features = frozen.prepare(np.random.default_rng(0).normal(size=(6, 3)))
    assert features.dtype == torch.float64
    frozen(features)  # the head takes its width from the features
    heads = [deepcopy(frozen) for _ in range(3)]
    for head in heads:
        for weight in head.parameters():
            nn.init.normal_(weight)
    y = torch.randint(3, (3, 6))
    weights = {
        n: torch.stack([dict(head.named_parameters())[n].detach() for head in heads]) for n in frozen.state_dict()
    }

    def loss(weights, y):
        return F.cross_entropy(functional_call(frozen, weights, (features,)), y)

    stacked = vmap(grad(loss), randomness="different")(weights, y)
    for k, head in enumerate(heads):
        F.cross_entropy(head(features), y[k]).backward()
        for name, weight in head.named_parameters():
            assert torch.allclose(stacked[name][k], weight.grad, rtol=1e-9, atol=1e-9)


# Backbones


@pytest.mark.parametrize(
    ("network", "X", "width"),
    [
        (MLP((8, 7), features=3), X, 7),
        (CNN((4, 5)), np.zeros((4, 8, 8, 3), dtype=np.uint8), 5),
        (Transformer(16, layers=1, heads=2, vocabulary=30), {"ids": [[1, 2], [3, 0]], "mask": [[1, 1], [1, 0]]}, 16),
    ],
)
def test_features_of_our_networks_are_what_comes_before_their_head(network, X, width):
    features = Frozen(network).prepare(X)
    assert features.shape[1] == width
    assert torch.allclose(network.head(features), network(**as_columns(network, X)), atol=1e-6)


def as_columns(network, X):
    prepared = network.prepare(X) if hasattr(network, "prepare") else torch.tensor(X, dtype=torch.float32)
    return prepared if isinstance(prepared, dict) else {"x": prepared}


def test_a_layer_called_features_is_not_mistaken_for_ours():
    class Theirs(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Linear(3, 5)

        def forward(self, x):
            return self.features(x)[:, :2]

    assert Frozen(Theirs()).prepare(X).shape == (4, 2)


def test_features_of_more_than_one_axis_are_laid_out_flat_and_low_precision_is_widened():
    assert Frozen(nn.Conv2d(3, 2, 1).bfloat16()).prepare(np.zeros((4, 3, 5, 5))).shape == (4, 50)
    assert Frozen(nn.Linear(3, 2).bfloat16()).prepare(X).dtype == torch.float32


def test_texts_are_prepared_by_the_backbone():
    backbone = Words()
    frozen = Frozen(backbone)
    assert frozen.prepare(["a", "bbb", "a"]).flatten().tolist() == [2.0, 6.0, 2.0]
    assert frozen.prepare(pd.Series(["bbb", "cc"], index=[7, 7])).flatten().tolist() == [6.0, 4.0]
    assert backbone.seen == [2, 1]


def test_an_encoder_gives_its_first_tokens_state(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from spanwise.deep.networks.encoder import Encoder

    configuration = transformers.DistilBertConfig(vocab_size=9, dim=16, n_layers=1, n_heads=2, hidden_dim=32)
    transformers.AutoModel.from_config(configuration).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "pool", "grew"])
    )
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    encoder = Encoder(tmp_path)
    features = Frozen(encoder).prepare(["the pool grew", "pool"])
    with torch.no_grad():
        assert torch.allclose(features, encoder.eval().features(**encoder.prepare(["the pool grew", "pool"])))


def test_a_backbone_that_answers_no_features_is_refused():
    class Pair(nn.Module):
        def forward(self, x):
            return x, x

    class Mean(nn.Module):
        def forward(self, x):
            return x.mean(0, keepdim=True)

    with pytest.raises(LearnerError, match="for 4 rows the backbone answered something of type tuple"):
        Frozen(Pair()).prepare(X)
    with pytest.raises(LearnerError, match=r"answered something of shape \(1, 3\)"):
        Frozen(Mean()).prepare(X)


def test_bad_settings_and_empty_batches_are_refused():
    with pytest.raises(SettingError, match="cache=-1"):
        Frozen(nn.Linear(3, 2), cache=-1)
    with pytest.raises(FeatureError, match="not a single row"):
        Frozen(nn.Linear(3, 2)).prepare(X[:0])


# What a row is known by


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]),
        np.array([[1, 2], [1, 3], [1, 2]], dtype=np.uint8),
        torch.tensor([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]),
        torch.tensor([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]], dtype=torch.bfloat16),
        sparse.csr_matrix([[0.0, 2.0], [0.0, 3.0], [0.0, 2.0]]),
        pd.DataFrame({"a": [1, 1, 1], "b": ["x", "y", "x"]}, index=[5, 6, 7]),
        pd.Series(["x", "y", "x"]),
        np.array(["x", "y", "x"]),
        np.array(["x", "y", "x"], dtype=object),
        ["x", "y", "x"],
        [b"x", b"y", b"x"],
        [[1, "x"], [1, "y"], (1, "x")],
        [{"a": 1, "b": 2.0}, {"a": 1, "b": 3.0}, {"b": 2.0, "a": 1}],
        [torch.ones(2), torch.zeros(2), torch.ones(2)],
        {"ids": np.array([[1, 2], [1, 3], [1, 2]]), "mask": torch.ones(3, 2)},
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_that_hold_the_same_have_the_same_key_and_others_do_not(rows):
    first, second, third = row_keys(rows)
    assert first == third != second


def test_keys_tell_columns_types_and_borders_apart():
    assert row_keys({"a": ["x"], "b": ["y"]}) == row_keys({"b": ["y"], "a": ["x"]})
    different = [
        {"a": ["x"], "b": ["y"]},
        {"a": ["y"], "b": ["x"]},
        {"a": ["xy"], "b": [""]},
        {"c": ["x"], "b": ["y"]},
        ["1"],
        [1],
        [1.0],
        [[1.0]],
        [[[1.0]]],
        [b"1"],
        [["ab", "c"]],
        [["a", "bc"]],
    ]
    keys = [row_keys(X)[0] for X in different]
    assert len(set(keys)) == len(keys)


def test_rows_without_content_to_compare_are_refused():
    with pytest.raises(FeatureError, match="a row holds a object"):
        row_keys([object()])
    with pytest.raises(FeatureError, match="differ in length"):
        row_keys({"a": [1, 2], "b": [1]})
