"""What tests of several rooms need."""

import os

import pytest

# Networks as small as those of the tests are slower with threads than without; it is read once, when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory):
    """Makes the folder of an encoder of random weights whose tokenizer knows these words."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")

    def make(words):
        made = tmp_path_factory.mktemp("encoder")
        known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set(words))]
        torch.manual_seed(0)
        sizes = {"vocab_size": max(20, len(known)), "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 32}
        configuration = transformers.DistilBertConfig(**sizes, max_position_embeddings=128, initializer_range=0.5)
        transformers.AutoModel.from_config(configuration).save_pretrained(made)
        (made / "vocab.txt").write_text("\n".join(known))
        (made / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer", "model_max_length": 128}')
        return made

    return make
