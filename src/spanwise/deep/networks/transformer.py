"""A small transformer encoder, its attention written out so that a pool of them can be stacked.

The fused attention kernels have no gradient for a batch of batches; two matrix products and a softmax do.
"""

from typing import Any

import torch
from torch import Tensor, nn

from spanwise.deep.networks.tokens import additive, token_columns
from spanwise.errors import SettingError


class Transformer(nn.Module):
    """Token ids to logits, through the state of the first token.

    >>> Transformer(16, layers=1, heads=2, vocabulary=50, classes=3)(torch.ones(5, 7, dtype=torch.int64)).shape
    torch.Size([5, 3])

    Args:
        width: numbers a token.
        layers: blocks of attention and feed-forward, each normalised before and added after (pre-norm).
        heads: of attention; they share `width` evenly.
        vocabulary: token ids lie below it.
        longest: most tokens a row.
        classes: logits a row.
        dropout: share switched off in training, of the embeddings and of what each block adds.
    """

    def __init__(
        self,
        width: int = 256,
        *,
        layers: int = 4,
        heads: int = 4,
        vocabulary: int = 8192,
        longest: int = 512,
        classes: int = 2,
        dropout: float = 0.0,
    ) -> None:
        if width % heads:
            raise SettingError(f"width={width} cannot be shared by heads={heads}: it must be a multiple")
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        self.dropout = _dropout(dropout)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)
        for embedding in (self.tokens, self.positions):
            nn.init.normal_(embedding.weight, std=0.02)  # torch's 1 would drown what the blocks add

    def prepare(self, X: Any) -> dict[str, Tensor]:
        """Token ids (n, length), or a dict of `ids` and `mask`; without a mask every token counts."""
        return token_columns(X, vocabulary=self.tokens.num_embeddings, longest=self.positions.num_embeddings)

    def features(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """The first token's state."""
        x = self.tokens(ids) + self.positions.weight[: ids.shape[-1]]
        x = self.dropout(x)
        padding = None if mask is None else additive(mask, x.dtype)
        for block in self.blocks:
            x = block(x, padding)
        state: Tensor = self.norm(x[:, 0])
        return state

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        logits: Tensor = self.head(self.features(ids, mask))
        return logits


class Block(nn.Module):
    """Attention, then a feed-forward layer four times as wide, each added to what came in."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.join = nn.Linear(width, width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = _dropout(dropout)

    def forward(self, x: Tensor, padding: Tensor | None) -> Tensor:
        x = x + self.dropout(self.attention(self.before_attention(x), padding))
        added: Tensor = self.dropout(self.feed_forward(self.before_forward(x)))
        return x + added

    def attention(self, x: Tensor, padding: Tensor | None) -> Tensor:
        """Every token a mixture of all tokens that are not padding."""
        split = self.query_key_value(x).unflatten(-1, (3, self.heads, -1))
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind()  # each (n, heads, length, width / heads)
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        if padding is not None:
            scores = scores + padding
        mixed = torch.softmax(scores, -1) @ value
        joined: Tensor = self.join(mixed.transpose(1, 2).flatten(2))
        return joined


def _dropout(share: float) -> nn.Module:
    return nn.Dropout(share) if share else nn.Identity()
