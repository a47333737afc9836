"""A Hugging Face encoder from a folder: the tokens it takes, and that its first token's state is what is classified."""

import os
import pickle
from copy import deepcopy
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

from spanwise.deep.networks.encoder import REMEMBERED, Encoder  # noqa: E402
from spanwise.errors import FeatureError, SettingError  # noqa: E402

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = [*SPECIAL, "the", "pool", "of", "learners", "grew", "and", "one", "span", "won", "this", "round"]
TEXTS = ["the pool grew", "one", "this round one span of the pool of learners won and grew", "the span"]
SIZES = {
    "vocab_size": len(WORDS),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}
CONFIGURATIONS = {
    "bert": lambda: transformers.BertConfig(**SIZES),
    "distilbert": lambda: transformers.DistilBertConfig(
        vocab_size=len(WORDS), dim=16, n_layers=2, n_heads=2, hidden_dim=32, max_position_embeddings=40
    ),
    "roberta": lambda: transformers.RobertaConfig(**SIZES),
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """One folder of random weights for each kind of encoder, as save_pretrained writes them."""
    made = {}
    for kind, configuration in CONFIGURATIONS.items():
        made[kind] = tmp_path_factory.mktemp(kind)
        torch.manual_seed(0)
        transformers.AutoModel.from_config(configuration()).save_pretrained(made[kind])
        save_tokenizer(made[kind])
    return made


def save_tokenizer(folder):
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)


@pytest.fixture(params=CONFIGURATIONS)
def encoder(request, folders):
    torch.manual_seed(0)
    return Encoder(folders[request.param], classes=3, longest=20)


@pytest.fixture
def bert(folders):
    return Encoder(folders["bert"], classes=3, longest=20)


def counting(encoder):
    """The sizes of the batches that the tokenizer was given."""
    batches, inner = [], encoder.tokenise.tokenizer
    encoder.tokenise.tokenizer = lambda texts, **options: batches.append(len(texts)) or inner(texts, **options)
    return batches


# What is classified


def test_logits_come_from_the_first_tokens_state_of_the_plain_model(encoder, folders):
    kind = encoder.body.config.model_type
    plain = transformers.AutoModel.from_pretrained(folders[kind], local_files_only=True).eval()
    inputs = encoder.eval().prepare(TEXTS)
    state = plain(input_ids=inputs["ids"], attention_mask=inputs["mask"]).last_hidden_state[:, 0]
    assert torch.allclose(encoder.features(**inputs), state, atol=1e-5)
    assert torch.allclose(encoder(**inputs), F.linear(state, encoder.head.weight, encoder.head.bias), atol=1e-5)


def test_the_head_is_the_last_linear_layer_and_there_is_no_pooler(encoder):
    assert [layer for layer in encoder.modules() if isinstance(layer, nn.Linear)][-1] is encoder.head
    assert not [name for name, _ in encoder.named_parameters() if "pooler" in name]
    assert encoder.head.weight.shape == (3, 16)
    assert all(module.training for module in encoder.modules())


def test_strings_are_their_ids_and_mask(encoder):
    words = encoder.prepare(TEXTS[:2])
    assert words["ids"].tolist() == [[2, 4, 5, 8, 3], [2, 10, 3, 0, 0]]
    assert words["mask"].tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
    again = encoder.prepare({"ids": words["ids"].tolist(), "mask": words["mask"].numpy()})
    assert all(torch.equal(words[name], again[name]) for name in ("ids", "mask"))


def test_padding_does_not_change_logits_and_the_mask_does(encoder):
    encoder.eval()
    inputs = encoder.prepare(TEXTS)
    longer = {"ids": F.pad(inputs["ids"], (0, 5)), "mask": F.pad(inputs["mask"], (0, 5))}
    assert torch.allclose(encoder(**inputs), encoder(**longer), atol=1e-5)
    alone = torch.cat([encoder(**encoder.prepare([text])) for text in TEXTS])
    assert torch.allclose(encoder(**inputs), alone, atol=1e-5)
    assert not torch.allclose(encoder(**inputs), encoder(inputs["ids"]), atol=1e-5)
    whole = torch.ones_like(inputs["ids"])
    assert torch.equal(encoder(inputs["ids"]), encoder(inputs["ids"], whole))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_weights_say_what_precision_is_computed_in(encoder, dtype):
    logits = encoder.to(dtype)(**encoder.prepare(TEXTS))
    assert logits.dtype == dtype
    assert logits.isfinite().all()


# In a stack


def test_a_stack_has_the_gradients_of_a_loop(encoder):
    """Three sets of weights, each with its own mini-batch, float64, no dropout."""
    encoder.double().eval()
    texts = [TEXTS, TEXTS[::-1], [text + " grew" for text in TEXTS[:-1]] + TEXTS[2:3]]
    batches = [encoder.prepare(batch) for batch in texts]
    labels = torch.tensor([[0, 1, 2, 0], [1, 1, 0, 2], [2, 0, 0, 1]])
    start = {name: weight.detach() for name, weight in encoder.named_parameters()}
    sets = [{n: w + 0.1 * k * torch.randn_like(w) for n, w in start.items()} for k in range(3)]

    def loss(weights, inputs, y):
        return F.cross_entropy(functional_call(encoder, weights, (), inputs), y)

    length = max(batch["ids"].shape[1] for batch in batches)
    batches = [{n: F.pad(c, (0, length - c.shape[1])) for n, c in batch.items()} for batch in batches]
    stacked = vmap(grad(loss), randomness="different")(stack(sets), stack(batches), labels)
    for k in range(3):
        one = deepcopy(encoder)
        one.load_state_dict(sets[k])
        F.cross_entropy(one(**batches[k]), labels[k]).backward()
        for name, weight in one.named_parameters():
            assert torch.allclose(stacked[name][k], weight.grad, rtol=1e-9, atol=1e-9), name


def stack(named):
    return {name: torch.stack([one[name] for one in named]) for name in named[0]}


def test_its_own_dropout_is_on_in_training_and_differs_within_a_stack(encoder):
    inputs = encoder.prepare(TEXTS)
    twice = {name: torch.stack(2 * [weight.detach()]) for name, weight in encoder.named_parameters()}
    both = {name: torch.stack(2 * [column]) for name, column in inputs.items()}

    def loss(weights, inputs):
        logits = functional_call(encoder, weights, (), inputs)
        return logits.square().sum(), logits

    gradients, logits = vmap(grad(loss, has_aux=True), randomness="different")(twice, both)
    assert not torch.equal(logits[0], logits[1])
    assert all(gradient.isfinite().all() for gradient in gradients.values())
    assert torch.equal(encoder.eval()(**inputs), encoder(**inputs))


@pytest.mark.slow
def test_a_stacked_step_is_one_graph(encoder):
    encoder.eval()
    inputs = encoder.prepare(TEXTS)
    weights = {name: torch.stack(2 * [weight.detach()]) for name, weight in encoder.named_parameters()}
    both = {name: torch.stack(2 * [column]) for name, column in inputs.items()}

    def loss(weights, inputs):
        return functional_call(encoder, weights, (), inputs).square().mean()

    plain = vmap(grad(loss), randomness="different")
    compiled = torch.compile(plain, fullgraph=True, dynamic=False, backend="eager")(weights, both)
    for name, gradient in plain(weights, both).items():
        assert torch.allclose(compiled[name], gradient, atol=1e-6), name


# Tokens


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda texts: np.array(texts, dtype=object), pd.Series])
def test_texts_come_in_any_sequence(bert, kind):
    assert bert.prepare(kind(TEXTS))["ids"].shape == (4, 14)


def test_texts_are_cut_at_the_longest_and_keep_their_end_token(folders):
    encoder = Encoder(folders["bert"], longest=6)
    assert encoder.prepare(TEXTS)["ids"].shape == (4, 6)
    assert encoder.prepare(TEXTS)["ids"][2].tolist() == [2, 13, 14, 10, 11, 3]


def test_fixed_lengths_leave_few_shapes(folders):
    encoder = Encoder(folders["bert"], longest=20, lengths=(8, 4))
    shapes = [encoder.prepare([" ".join(words * ["pool"])])["ids"].shape[1] for words in (1, 2, 3, 6, 7, 18, 30)]
    assert shapes == [4, 4, 8, 8, 20, 20, 20]
    padded = encoder.prepare(["pool"])
    assert padded["ids"].tolist() == [[2, 5, 3, 0]]
    assert padded["mask"].tolist() == [[1, 1, 1, 0]]


def test_a_batch_is_tokenised_once_for_all_copies(bert):
    batches = counting(bert)
    first = bert.prepare(TEXTS)
    again = deepcopy(bert).prepare(np.array(TEXTS))
    assert batches == [4]
    assert torch.equal(first["ids"], again["ids"])


def test_a_list_that_was_changed_is_tokenised_again(bert):
    texts = ["the pool", "one"]
    bert.prepare(texts)
    texts[0] = "this round"
    assert bert.prepare(texts)["ids"].tolist() == bert.prepare(["this round", "one"])["ids"].tolist()
    assert bert.prepare(texts)["ids"][0].tolist() != bert.prepare(["the pool", "one"])["ids"][0].tolist()


def test_only_the_last_batches_are_remembered(bert):
    batches = counting(bert)
    for number in range(REMEMBERED + 1):
        bert.prepare([f"pool {number}"])
    bert.prepare([f"pool {REMEMBERED}"])
    assert len(batches) == REMEMBERED + 1
    bert.prepare(["pool 0"])
    assert len(batches) == REMEMBERED + 2


def test_threads_may_tokenise_at_once(bert):
    answers = {}

    def tokenise(number):
        answers[number] = bert.prepare([" ".join(number * ["pool"])] * 50)["ids"].shape

    threads = [Thread(target=tokenise, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: (50, number + 2) for number in range(1, 9)}


def test_copies_share_no_weights_and_pickles_come_back(bert):
    bert.eval()
    before = bert(**bert.prepare(TEXTS))
    copy = deepcopy(bert)
    for weight in copy.parameters():
        weight.data.add_(1.0)
    assert torch.equal(bert(**bert.prepare(TEXTS)), before)
    back = pickle.loads(pickle.dumps(bert))
    assert torch.equal(back(**back.prepare(TEXTS)), before)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ("one text", "takes texts in a list.* this is a str"),
        (3, "this is a int"),
        ([], "this is empty"),
        (["a", None], "row 1 is not a text but NoneType"),
        (np.zeros((2, 3)), "row 0 is not a text but ndarray"),
        (pd.DataFrame({"text": ["a"]}), "pass one column"),
        ({"input_ids": [[1]]}, "columns 'ids' and 'mask'"),
        ({"ids": [[99]], "mask": [[1]]}, "this network knows 0 to 14"),
        ({"ids": [21 * [1]], "mask": [21 * [1]]}, "takes 20 at most"),
    ],
)
def test_what_is_no_text_is_refused(bert, X, says):
    with pytest.raises(FeatureError, match=says):
        bert.prepare(X)


# Folders


def test_a_folder_that_lacks_something_is_refused(tmp_path):
    with pytest.raises(SettingError, match=r"has no config\.json: .*Nothing is fetched"):
        Encoder(tmp_path)
    transformers.AutoModel.from_config(CONFIGURATIONS["bert"]()).save_pretrained(tmp_path)
    with pytest.raises(SettingError, match=r"has no tokenizer\.json or vocab"):
        Encoder(tmp_path, longest=20)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(SettingError, match=r"has no model\.safetensors"):
        Encoder(tmp_path, longest=20)


def test_a_tokenizer_with_more_words_than_the_model_is_refused(tmp_path):
    configuration = transformers.BertConfig(**{**SIZES, "vocab_size": 10})
    transformers.AutoModel.from_config(configuration).save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    with pytest.raises(SettingError, match="the tokenizer knows 15 tokens, the model 10"):
        Encoder(tmp_path, longest=20)


def test_a_decoder_is_refused(tmp_path):
    configuration = transformers.GPT2Config(vocab_size=len(WORDS), n_embd=16, n_layer=1, n_head=2, n_positions=40)
    transformers.AutoModel.from_config(configuration).save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    with pytest.raises(SettingError, match="does not look at those behind it"):
        Encoder(tmp_path, longest=20)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"longest": 41}, "longest=41: this encoder takes 2 to 40"),
        ({"longest": 1}, "longest=1"),
        ({"longest": 8, "lengths": (4, 16)}, r"lengths=\(4, 16\)"),
    ],
)
def test_lengths_out_of_range_are_refused(folders, options, says):
    with pytest.raises(SettingError, match=says):
        Encoder(folders["bert"], **options)


def test_half_precision_files_are_loaded_in_single(tmp_path):
    model = transformers.AutoModel.from_config(CONFIGURATIONS["bert"]()).half()
    model.save_pretrained(tmp_path)
    save_tokenizer(tmp_path)
    assert {weight.dtype for weight in Encoder(tmp_path, longest=20).parameters()} == {torch.float32}


def test_minilm_tells_questions_apart():
    shared = Path(os.environ.get("SPANWISE_SHARED", Path(__file__).parents[2].parent / "shared"))
    folder = shared / "encoders" / "minilm_l6_v2_fp16"
    if not folder.is_dir():
        pytest.skip("no MiniLM: point SPANWISE_SHARED to a folder with encoders/minilm_l6_v2_fp16")
    encoder = Encoder(folder).eval()
    texts = ["How old are you?", "What is your age?", "The train is late."]
    with torch.no_grad():
        states = F.normalize(encoder.features(**encoder.prepare(texts)), dim=1)
    assert states.shape == (3, 384)
    assert states[0] @ states[1] > states[0] @ states[2]
