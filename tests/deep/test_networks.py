"""Every network: its shapes, its head, the rows it takes, and that a stack of it computes what a loop of it does."""

import pickle
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

from spanwise.deep.networks.cnn import CNN, YearbookCNN, images
from spanwise.deep.networks.densenet import densenet121
from spanwise.deep.networks.mlp import MLP
from spanwise.deep.networks.tokens import token_columns
from spanwise.deep.networks.transformer import Transformer
from spanwise.errors import FeatureError, MissingExtraError, SettingError


def small_transformer(**options):
    return Transformer(16, layers=2, heads=2, vocabulary=30, longest=12, classes=3, **options)


def numbers(*shape):
    return lambda: {"x": torch.randn(*shape, dtype=torch.float64)}


def tokens():
    mask = torch.ones(6, 9, dtype=torch.int64)
    mask[1, 4:] = mask[3, 1:] = 0
    return {"ids": torch.randint(30, (6, 9)), "mask": mask}


def ids_alone():
    return {"ids": torch.randint(30, (6, 9))}


def real_densenet():
    pytest.importorskip("torchvision", reason="torchvision is not installed")
    return densenet121(classes=3)


NETWORKS = {
    "mlp": (lambda: MLP((8, 7), features=5, classes=3), numbers(6, 5)),
    "mlp of images": (lambda: MLP((8,), features=16, classes=3), numbers(6, 1, 4, 4)),
    "linear": (lambda: MLP((), features=5, classes=3), numbers(6, 5)),
    "cnn": (lambda: CNN((4, 5, 6), classes=3), numbers(6, 3, 8, 8)),
    "yearbook": (lambda: YearbookCNN(classes=3), numbers(6, 3, 16, 16)),
    "transformer": (small_transformer, tokens),
    "transformer without a mask": (small_transformer, ids_alone),
    "densenet": (real_densenet, numbers(6, 3, 32, 32)),
}

every_network = pytest.mark.parametrize("name", NETWORKS)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


@every_network
def test_a_row_of_logits_for_each_row_in_single_double_and_half_precision(name):
    make, draw = NETWORKS[name]
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        inputs = {n: v.to(dtype) if v.is_floating_point() else v for n, v in draw().items()}
        logits = make().to(dtype)(**inputs)
        assert logits.shape == (6, 3)
        assert logits.dtype == dtype
        assert logits.isfinite().all()


@every_network
def test_the_head_is_the_last_linear_layer_and_reads_the_features(name):
    make, draw = NETWORKS[name]
    network, inputs = make().double().eval(), draw()
    assert [layer for layer in network.modules() if isinstance(layer, nn.Linear)][-1] is network.head
    assert torch.equal(network.head(network.features(**inputs)), network(**inputs))


@every_network
def test_a_stack_has_the_gradients_and_buffers_of_a_loop(name):
    """Three sets of weights, each with its own mini-batch, float64."""
    make, draw = NETWORKS[name]
    modules = [make().double() for _ in range(3)]
    batches = [(draw(), torch.randint(3, (6,))) for _ in modules]

    def loss(weights, buffers, inputs, y):
        buffers = {n: b.clone() for n, b in buffers.items()}
        logits = functional_call(modules[0], {**weights, **buffers}, (), inputs)
        return F.cross_entropy(logits, y), buffers

    weights = stack([{n: w.detach() for n, w in module.named_parameters()} for module in modules])
    buffers = stack([{n: b.clone() for n, b in module.named_buffers()} for module in modules])
    inputs, y = stack([batch[0] for batch in batches]), torch.stack([batch[1] for batch in batches])
    gradients, buffers = vmap(grad(loss, has_aux=True), randomness="different")(weights, buffers, inputs, y)

    for k, (module, (inputs, y)) in enumerate(zip(modules, batches, strict=True)):
        F.cross_entropy(module(**inputs), y).backward()
        for n, weight in module.named_parameters():
            assert torch.allclose(gradients[n][k], weight.grad, rtol=1e-9, atol=1e-9), n
        for n, buffer in module.named_buffers():
            assert torch.allclose(buffers[n][k], buffer, rtol=1e-9, atol=1e-9), n


def stack(named):
    return {name: torch.stack([one[name] for one in named]) for name in named[0]}


@pytest.mark.parametrize(
    "name", ["mlp", "cnn", *(pytest.param(name, marks=pytest.mark.slow) for name in ("yearbook", "transformer"))]
)
def test_a_stacked_step_is_one_graph(name):
    """Without a break for Python: what compilation with fullgraph=True asks for."""
    make, draw = NETWORKS[name]
    module = make().double()
    batch = stack([draw(), draw()])
    weights = stack([{n: w.detach() for n, w in module.named_parameters()} for _ in range(2)])
    buffers = stack([dict(module.named_buffers()) for _ in range(2)])

    def loss(weights, buffers, inputs):
        buffers = {n: b.clone() for n, b in buffers.items()}
        return functional_call(module, {**weights, **buffers}, (), inputs).square().mean()

    plain = vmap(grad(loss), randomness="different")
    compiled = torch.compile(plain, fullgraph=True, dynamic=False, backend="eager")
    for n, gradient in compiled(weights, buffers, batch).items():
        assert torch.allclose(gradient, plain(weights, buffers, batch)[n])


@pytest.mark.parametrize("make", [lambda: MLP((8,), features=5, dropout=0.5), lambda: small_transformer(dropout=0.5)])
def test_dropout_differs_between_the_members_of_a_stack_and_is_off_in_evaluation(make):
    network = make()
    inputs = {"ids": torch.ones(6, 9, dtype=torch.int64)} if isinstance(network, Transformer) else torch.ones(6, 5)
    weights = {n: torch.stack(2 * [w.detach()]) for n, w in network.named_parameters()}

    def answer(weights):
        return functional_call(network, weights, *(((), inputs) if isinstance(inputs, dict) else (inputs,)))

    first, second = vmap(answer, randomness="different")(weights)
    assert not torch.equal(first, second)
    network.eval()
    first, second = vmap(answer, randomness="different")(weights)
    assert torch.equal(first, second)


@every_network
def test_copies_share_nothing_and_pickles_come_back(name):
    make, draw = NETWORKS[name]
    network, inputs = make().double().eval(), draw()
    before = network(**inputs)
    copy = deepcopy(network)
    for weight in copy.parameters():
        weight.data.add_(1.0)
    assert torch.equal(network(**inputs), before)
    assert torch.equal(pickle.loads(pickle.dumps(network))(**inputs), before)


@pytest.mark.parametrize("hidden", [(), (8,), (8, 7)])
def test_an_mlp_takes_its_width_from_the_first_batch(hidden):
    network = deepcopy(MLP(hidden, classes=3))
    assert network(torch.zeros(2, 4, 5)).shape == (2, 3)
    first = next(layer for layer in network.modules() if isinstance(layer, nn.Linear))
    assert first.in_features == 20


def test_the_networks_are_those_of_the_experiments():
    yearbook = YearbookCNN()
    kinds = [type(layer) for layer in yearbook.body]
    assert kinds == 4 * [nn.Conv2d, nn.BatchNorm2d, nn.ReLU, nn.MaxPool2d]
    assert [(c.in_channels, c.out_channels) for c in yearbook.body if isinstance(c, nn.Conv2d)] == [
        (3, 32),
        (32, 32),
        (32, 32),
        (32, 32),
    ]
    assert sum(weight.numel() for weight in CNN(classes=10).parameters()) == 896 + 18_496 + 73_856 + 1_290
    per_block = 12 * 256**2 + (3 + 1 + 4 + 1 + 4) * 256  # matrices, their biases, two norms
    rest = (8192 + 512 + 2) * 256 + 10 * 257  # embeddings, the last norm, the head
    assert sum(weight.numel() for weight in Transformer(classes=10).parameters()) == 4 * per_block + rest


# What a transformer looks at


def test_a_transformer_is_blind_to_padding_and_to_nothing_else():
    network = small_transformer().double().eval()
    inputs = tokens()
    changed = inputs | {"ids": torch.where(inputs["mask"] == 1, inputs["ids"], (inputs["ids"] + 1) % 30)}
    assert torch.allclose(network(**inputs), network(**changed), rtol=0, atol=1e-12)
    assert not torch.allclose(network(**inputs), network(inputs["ids"]))
    longer = {name: F.pad(column, (0, 3)) for name, column in inputs.items()}
    assert torch.allclose(network(**inputs), network(**longer), rtol=0, atol=1e-12)
    whole = inputs | {"mask": torch.ones_like(inputs["mask"])}
    assert torch.allclose(network(**whole), network(inputs["ids"]), rtol=0, atol=1e-12)
    swapped = inputs["ids"].flip(1)
    assert not torch.allclose(network(inputs["ids"]), network(swapped))


def test_written_out_attention_is_torchs_own():
    block = small_transformer().double().blocks[0]
    x = torch.randn(6, 9, 16, dtype=torch.float64)
    query, key, value = block.query_key_value(x).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
    mixed = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
    assert torch.allclose(block.attention(x, None), block.join(mixed), rtol=0, atol=1e-12)


def test_a_transformers_heads_share_its_width():
    with pytest.raises(SettingError, match="width=10 cannot be shared by heads=4"):
        Transformer(10, heads=4)


# Rows as users have them


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((5, 3, 16, 20)),
        np.zeros((5, 16, 20, 3), dtype=np.float32),
        np.zeros((5, 16, 20, 3), dtype=np.uint8),
        [np.zeros((16, 20, 3), dtype=np.int64)] * 5,
        torch.zeros(5, 16, 20, 3),
    ],
)
def test_images_come_with_their_colours_first_or_last(X):
    for network in (CNN(), YearbookCNN()):
        prepared = network.prepare(X)
        assert prepared.shape == (5, 3, 16, 20)
        assert prepared.dtype == torch.float32
        assert network(prepared).shape == (5, 2)


def test_colours_that_came_last_are_the_same_colours():
    first = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    assert torch.equal(images(first, 3), images(first.transpose(0, 2, 3, 1), 3))
    assert torch.equal(images(first[:, 0], 1), images(first[:, :1], 1))
    either_way = np.zeros((2, 3, 8, 3))
    assert images(either_way, 3).shape == (2, 3, 8, 3)


def test_bytes_become_shares_of_full_brightness():
    assert images(np.full((1, 1, 2, 2), 51, dtype=np.uint8), 1).flatten().tolist() == pytest.approx(4 * [0.2])
    assert images(np.full((1, 1, 2, 2), 51), 1).flatten().tolist() == 4 * [51.0]


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (np.zeros((5, 64)), r"shape \(5, 64\); expected images \(n, 3"),
        (np.zeros((5, 16, 16)), r"shape \(5, 16, 16\)"),
        (np.zeros((5, 3, 8, 8)), "at least 16"),
        (["a", "b"], "arrays of numbers"),
        ([np.zeros((3, 16, 16)), np.zeros((3, 16, 17))], "differ in size"),
    ],
)
def test_what_is_no_image_is_refused(X, says):
    with pytest.raises(FeatureError, match=says):
        YearbookCNN().prepare(X)


def test_token_ids_come_alone_or_with_a_mask():
    network = small_transformer()
    alone = network.prepare(np.ones((2, 4), dtype=np.int32))
    assert torch.equal(alone["mask"], torch.ones(2, 4, dtype=torch.int64)), "every one of them is a token"
    prepared = network.prepare({"ids": [[1, 2], [3, 0]], "mask": np.array([[True, True], [True, False]])})
    assert {name: column.dtype for name, column in prepared.items()} == {"ids": torch.int64, "mask": torch.int64}
    assert network(**prepared).shape == (2, 3)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ({"tokens": [[1]]}, r"columns 'ids' and 'mask'; these columns are \['tokens'\]"),
        ({"ids": [[1]], "input": [[1]]}, "these columns are"),
        ([[1, 2], [3]], "as many in every row"),
        ([[1.0, 2.0]], "whole numbers"),
        ([1, 2], r"shape \(n, length\)"),
        ([["a"]], "whole numbers"),
        ([[1, 30]], "ids from 1 to 30; this network knows 0 to 29"),
        ([[-1, 3]], "ids from -1 to 3"),
        ([list(range(13))], "rows of 13 tokens; this network takes 12"),
        ({"ids": [[1, 2]], "mask": [[1]]}, r"the mask, of shape \(1, 1\)"),
        ({"ids": [[1, 2]], "mask": [[1, 2]]}, "0 for padding"),
        ({"ids": [[1, 2], [0, 2]], "mask": [[1, 1], [0, 1]]}, "row 1 begins with padding"),
    ],
)
def test_token_ids_that_a_network_cannot_take_are_refused(X, says):
    with pytest.raises(FeatureError, match=says):
        token_columns(X, vocabulary=30, longest=12)


# DenseNet-121


def test_densenet_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision.models", None)
    with pytest.raises(MissingExtraError, match=r"needs torchvision, .* pip install 'spanwise\[vision\]'"):
        densenet121()


def test_densenet_reads_weights_from_a_file(tmp_path):
    there = real_densenet()
    stored = {f"features.{name}": value for name, value in there.body.state_dict().items()}
    old = {name.replace("norm1.", "norm.1.").replace("conv2.", "conv.2."): value for name, value in stored.items()}
    torch.save({**old, "classifier.weight": torch.zeros(1000, 1024)}, tmp_path / "old.pth")
    save_file(stored, tmp_path / "new.safetensors")
    for file in ("old.pth", "new.safetensors"):
        here = densenet121(weights=tmp_path / file)
        assert all(torch.equal(value, stored[f"features.{name}"]) for name, value in here.body.state_dict().items())
        assert here.head.out_features == 2
    save_file({"features.conv0.weight": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(SettingError, match="does not hold the weights"):
        densenet121(weights=tmp_path / "other.safetensors")
    with pytest.raises(SettingError, match="no such file"):
        densenet121(weights=Path("nowhere.pth"))


def test_densenet_computes_what_torchvision_does():
    models = pytest.importorskip("torchvision.models", reason="torchvision is not installed")
    network = real_densenet().eval()
    theirs = models.densenet121(num_classes=3).eval()
    theirs.features.load_state_dict(network.body.state_dict())
    theirs.classifier.load_state_dict(network.head.state_dict())
    x = torch.randn(2, 3, 64, 64)
    assert torch.allclose(network(x), theirs(x), atol=1e-6)
