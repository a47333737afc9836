"""Any Hugging Face encoder from a local folder: the first token's state, and a linear layer.

Nothing is fetched: the folder holds what `save_pretrained` of a model and of its tokenizer wrote.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from spanwise.deep.networks.tokens import additive, token_columns
from spanwise.errors import FeatureError, MissingExtraError, SettingError

try:
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import logging
except ImportError as error:
    raise MissingExtraError("transformers", "text") from error

REMEMBERED = 8
"""Batches whose tokens are kept, so that instances that train on one batch tokenise it once."""


class Encoder(nn.Module):
    """A BERT, DistilBERT, MiniLM, RoBERTa, ... with a linear layer on the last state of token 0.

    No pooler, dropout or activation comes between the two. Dropout inside the encoder stays as its
    configuration says. To train a part of it only, call `requires_grad_(False)` on the rest of `body`.

    Args:
        folder: holds config.json, model.safetensors and the files of the tokenizer.
        classes: logits a text.
        longest: tokens of a text, the special ones included; what is longer is cut off.
        lengths: a few fixed lengths in tokens. A batch is padded to the least of them that holds it, or to
            `longest`, so that few shapes occur (CUDA graphs want that); None pads to the longest text of the batch.

    References: Yao et al. (2022), Wild-Time, for HuffPost and arXiv.
    """

    def __init__(
        self, folder: str | Path, *, classes: int = 2, longest: int = 128, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__()
        self.body, tokenizer = _loaded(Path(folder))
        _check_lengths(longest, lengths, most=min(self.body.config.max_position_embeddings, tokenizer.model_max_length))
        self.longest = longest
        self.tokenise = Tokenise(tokenizer, longest, lengths or ())
        self.masks_add = _masks_add(self.body)
        self.head = nn.Linear(self.body.config.hidden_size, classes)
        self.train()  # from_pretrained leaves the body in the other mode

    def prepare(self, X: Any) -> dict[str, Tensor]:
        """Strings, in a list, array or Series; or a dict of token `ids` and `mask`."""
        if isinstance(X, dict):
            return token_columns(X, vocabulary=self.body.config.vocab_size, longest=self.longest)
        return self.tokenise(X)

    def features(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """The first token's state."""
        mask = torch.ones_like(ids) if mask is None else mask
        return _first_token(self.body, ids, additive(mask, self.head.weight.dtype) if self.masks_add else mask)

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        logits: Tensor = self.head(self.features(ids, mask))
        return logits


class Tokenise:
    """Texts to token ids and mask; the last few batches are remembered by what they say.

    All copies of a network share one, so that a batch is tokenised once and not once an instance.

    Args:
        tokenizer: of Hugging Face.
        longest, lengths: as for `Encoder`.
    """

    def __init__(self, tokenizer: Any, longest: int, lengths: Sequence[int]) -> None:
        self.tokenizer, self.longest, self.lengths = tokenizer, longest, tuple(sorted(lengths))
        self.remembered: OrderedDict[tuple[str, ...], dict[str, Tensor]] = OrderedDict()
        self.lock = Lock()  # a tokenizer cannot be used by two threads at once

    def __call__(self, X: Any) -> dict[str, Tensor]:
        texts = _texts(X)
        with self.lock:
            if texts not in self.remembered:
                self.remembered[texts] = self._tokens(texts)
            self.remembered.move_to_end(texts)
            while len(self.remembered) > REMEMBERED:
                self.remembered.popitem(last=False)
            return dict(self.remembered[texts])

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., "Tokenise"], tuple[Any, ...]]:
        return Tokenise, (self.tokenizer, self.longest, self.lengths)

    def _tokens(self, texts: tuple[str, ...]) -> dict[str, Tensor]:
        tokens = self.tokenizer(
            list(texts), truncation=True, max_length=self.longest, padding=True, return_tensors="pt"
        )
        ids, mask = tokens["input_ids"], tokens["attention_mask"]
        if self.lengths:
            length = next((length for length in self.lengths if length >= ids.shape[1]), self.longest)
            missing = (0, length - ids.shape[1])
            ids, mask = F.pad(ids, missing, value=self.tokenizer.pad_token_id), F.pad(mask, missing)
        return {"ids": ids, "mask": mask}


def _texts(X: Any) -> tuple[str, ...]:
    texts = tuple(X) if hasattr(X, "__iter__") and not isinstance(X, str) and not hasattr(X, "columns") else None
    if not texts:
        raise FeatureError(
            f"an encoder takes texts in a list, an array or a Series, or a dict of token ids and mask; this is "
            f"{'empty' if texts == () else 'a ' + type(X).__name__}. Of a DataFrame pass one column."
        )
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise FeatureError(f"row {row} is not a text but {type(text).__name__}: fill in '' where there is none")
    return texts


def _loaded(folder: Path) -> tuple[Any, Any]:
    for part in (("config.json",), ("model.safetensors",), ("tokenizer.json", "vocab.*", "*.model")):
        if not any(any(folder.glob(name)) for name in part):
            raise SettingError(
                f"folder={str(folder)!r} has no {' or '.join(part)}: an encoder is read from a local folder, as "
                "save_pretrained(folder) of a model and of its tokenizer writes it. Nothing is fetched."
            )
    with without_bar():
        body = AutoModel.from_pretrained(
            folder, attn_implementation="eager", local_files_only=True, use_safetensors=True
        ).float()
    if getattr(body, "pooler", None) is not None:
        body.pooler = None  # weights that would be stacked and never used
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if len(tokenizer) > body.config.vocab_size:
        raise SettingError(
            f"folder={str(folder)!r}: the tokenizer knows {len(tokenizer)} tokens, the model "
            f"{body.config.vocab_size}. They do not belong together."
        )
    tokenizer.padding_side = tokenizer.truncation_side = "right"  # the first token must stay the first
    return body, tokenizer


@contextmanager
def without_bar() -> Iterator[None]:
    """Without the progress bar that transformers shows even for a local file, and where there is no terminal."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _check_lengths(longest: int, lengths: Sequence[int] | None, most: int) -> None:
    if not 2 <= longest <= most:
        raise SettingError(f"longest={longest}: this encoder takes 2 to {most} tokens")
    if any(not 2 <= length <= longest for length in lengths or ()):
        raise SettingError(f"lengths={lengths}: each must lie between 2 and longest={longest}")


def _first_token(body: nn.Module, ids: Tensor, mask: Tensor) -> Tensor:
    state: Tensor = body(input_ids=ids, attention_mask=mask).last_hidden_state[:, 0]
    return state


def _masks_add(body: nn.Module) -> bool:
    """Whether the encoder takes a mask that is added to the attention scores.

    Given ones and zeros, transformers 5 looks whether there is any padding at all, which a stack of
    networks cannot do; given numbers to add, transformers 4 fails or answers NaN. So the encoder is asked.
    """
    ids, mask = torch.arange(2, 6)[None], torch.tensor([[1, 1, 0, 0]])
    with torch.no_grad():
        right = _first_token(body, ids, mask)
        if torch.equal(right, _first_token(body, ids, torch.ones_like(mask))):
            raise SettingError(
                "the first token of this network does not look at those behind it, so its state tells nothing of a "
                "text: pass an encoder (BERT, DistilBERT, RoBERTa, ...), not a decoder"
            )
        try:
            added = _first_token(body, ids, additive(mask, right.dtype))
        except (IndexError, RuntimeError, TypeError, ValueError):
            return False
    return torch.allclose(added, right, rtol=1e-3, atol=1e-4)
