"""The five deep learners once more, the slow way: a module, autograd, torch's own optimisers, and loops over names.

Written from the methods' papers and from Wild-Time's own code before its author had read `spanwise.deep`: no vector of
all weights, no stack, no masks. Tests beside this file hold the two against each other.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Slow:
    """One instance: each step descends on objective plus penalty; optimiser and penalty last from round to round.

    Args:
        module: its network, float64.
        optimizer: one of torch's, on the parameters of `module`.
        objective: (logits, y, group) -> loss of a mini-batch.
        penalty: None, `SlowSI` or `SlowEWC`.
        clip: longest gradient, as torch.nn.utils counts it.
        scheduler: one of torch's, stepped once a round.
    """

    def __init__(self, module, optimizer, objective, penalty=None, clip=None, scheduler=None):
        self.module, self.optimizer, self.objective = module, optimizer, objective
        self.penalty, self.clip, self.scheduler = penalty, clip, scheduler

    def learn(self, X, y, rows, groups):
        """One round: `rows` and `groups` are (steps, batch), positions in `X` and `y`.

        Returns what can be compared after every step: the value of the penalty in it, and weights and buffers then.
        """
        self.module.train()
        trail = []
        for at, group in zip(rows, groups, strict=True):
            held = self.step(X[at], y[at], group)
            trail.append((held, {name: value.clone() for name, value in self.module.state_dict().items()}))
        if self.scheduler is not None:
            self.scheduler.step()
        return trail

    def step(self, X, y, group):
        """One step; the value that the penalty had in it."""
        names = dict(self.module.named_parameters())
        loss = self.objective(self.module(X), y, group)
        descent = dict(zip(names, torch.autograd.grad(loss, list(names.values()), retain_graph=True), strict=True))
        held = self.penalty.value(self.module) if self.penalty else torch.zeros((), dtype=loss.dtype)
        self.optimizer.zero_grad()
        (loss + held).backward()
        if self.clip is not None:
            nn.utils.clip_grad_norm_(list(names.values()), self.clip)
        before = copied(self.module)
        self.optimizer.step()
        if self.penalty:
            self.penalty.after_step(self.module, before, descent)
        return held.item()

    def grow(self, fresh):
        """More classes: `fresh` holds the new rows of the head's weights; all that was remembered of them is zero."""
        for name, weight in self.module.named_parameters():
            if name in fresh:
                weight.data = torch.cat([weight.data, fresh[name]])
                weight.grad = None
                kept = self.optimizer.state[weight]
                kept.update({key: lengthened(value, fresh[name]) for key, value in kept.items() if value.dim()})
                if self.penalty:
                    self.penalty.grow(name, fresh[name])


def copied(module):
    return {name: weight.detach().clone() for name, weight in module.named_parameters()}


def zeros(module):
    return {name: torch.zeros_like(weight) for name, weight in module.named_parameters()}


def lengthened(vector, rows):
    return torch.cat([vector, torch.zeros_like(rows)])


class SlowSI:
    """Zenke, Poole and Ganguli (2017); or as Wild-Time codes it (PAPER B.3)."""

    def __init__(self, module, strength, damping, wildtime):
        self.strength, self.damping, self.wildtime = strength, damping, wildtime
        self.omega, self.path, self.anchor = zeros(module), zeros(module), copied(module)
        self.last = zeros(module)

    def value(self, module):
        held = 0.0
        for name, weight in module.named_parameters():
            held = held + (self.omega[name] * (weight - self.anchor[name]) ** 2).sum()
        return self.strength * held

    def after_step(self, module, before, descent):
        for name, weight in module.named_parameters():
            self.last[name] = weight.grad.detach().clone()
            self.path[name] = self.path[name] - descent[name] * (weight.detach() - before[name])

    def after_round(self, module):
        for name, weight in module.named_parameters():
            way = weight.detach() - self.anchor[name]
            brought = -self.last[name] * way if self.wildtime else self.path[name].clamp(min=0)
            self.omega[name] = self.omega[name] + brought / (way**2 + self.damping)
            self.anchor[name] = weight.detach().clone()
            self.path[name] = torch.zeros_like(way)

    def grow(self, name, rows):
        for remembered in (self.omega, self.path, self.last):
            remembered[name] = lengthened(remembered[name], rows)
        self.anchor[name] = torch.cat([self.anchor[name], rows])


class SlowEWC:
    """Kirkpatrick et al. (2017) in the online form; or as Wild-Time codes it (PAPER B.4)."""

    def __init__(self, module, strength, decay, wildtime):
        self.strength, self.decay, self.wildtime = strength, decay, wildtime
        self.importance, self.anchor = zeros(module), copied(module)

    def value(self, module):
        held = 0.0
        for name, weight in module.named_parameters():
            importance = self.decay * self.importance[name]
            held = held + (importance * (weight - self.anchor[name]) ** 2).sum()
        return self.strength * 0.5 * held

    def after_step(self, module, before, descent):
        pass

    def after_round(self, module, X, chances):
        """`X` are the rows read again, one at a time, each with the uniform number that decides its label."""
        module.eval()
        fresh = zeros(module)
        for row, chance in zip(X, chances, strict=True):
            logits = module(row[None])[0]
            label = int(logits.argmax()) if self.wildtime else drawn_label(logits.softmax(0).tolist(), float(chance))
            module.zero_grad()
            (-logits.log_softmax(0)[label]).backward()
            for name, weight in module.named_parameters():
                fresh[name] += weight.grad.detach() ** 2
        for name in fresh:
            self.importance[name] = fresh[name] / len(X) + self.decay * self.importance[name]
        self.anchor = copied(module)
        module.train()

    def grow(self, name, rows):
        self.importance[name] = lengthened(self.importance[name], rows)
        self.anchor[name] = torch.cat([self.anchor[name], rows])


def drawn_label(probabilities, chance):
    """The class in whose stretch of [0, 1) `chance` lies, classes laid end to end."""
    end = 0.0
    for label, probability in enumerate(probabilities):
        end += probability
        if chance < end:
            return label
    return len(probabilities) - 1


def cross_entropy(logits, y, group):
    return F.cross_entropy(logits, y)


def irm(strength):
    """Per group: mean loss, and the product of two halves' slopes by a factor on the logits (PAPER B.5)."""

    def loss(logits, y, group):
        present = sorted(set(group.tolist()))
        scale = torch.ones((), dtype=logits.dtype, requires_grad=True)
        total = 0.0
        for one in present:
            losses = F.cross_entropy(scale * logits[group == one], y[group == one], reduction="none")
            slopes = [torch.autograd.grad(half.mean(), scale, create_graph=True)[0] for half in halves(losses)]
            total = total + losses.mean() + strength * slopes[0] * slopes[1]
        return total / len(present)

    return loss


def halves(losses):
    return losses[0::2], losses[1::2]


def coral(strength):
    """Pairs of groups that have a covariance, averaged."""

    def loss(logits, y, group):
        parts = [logits[group == one] for one in sorted(set(group.tolist()))]
        distances = apart([part for part in parts if len(part) > 1])
        return F.cross_entropy(logits, y) + (strength * sum(distances) / len(distances) if distances else 0.0)

    return loss


def coral_as_coded(strength):
    """Every pair of groups; a group of one row loses its first axis on the way, as in Wild-Time (PAPER B.6)."""

    def loss(logits, y, group):
        parts = [logits[group == one].squeeze(0) for one in sorted(set(group.tolist()))]
        distances = apart(parts)
        return F.cross_entropy(logits, y) + (strength * sum(distances) / len(distances) if distances else 0.0)

    return loss


def apart(parts):
    return [coral_penalty(a, b) for at, a in enumerate(parts) for b in parts[at + 1 :]]


def coral_penalty(x, y):
    """What WILDS and Wild-Time compute for two groups, whatever shape squeezing has left them."""
    if x.dim() > 2:
        x, y = x.view(-1, x.size(-1)), y.view(-1, y.size(-1))
    mean_x, mean_y = x.mean(0, keepdim=True), y.mean(0, keepdim=True)
    cent_x, cent_y = x - mean_x, y - mean_y
    cova_x = (cent_x.t() @ cent_x) / (len(x) - 1)
    cova_y = (cent_y.t() @ cent_y) / (len(y) - 1)
    return (mean_x - mean_y).pow(2).mean() + (cova_x - cova_y).pow(2).mean()


def wild_time_item(index, sizes, group_size):
    """(round meant, group, round that came, row in it): item `index` of Wild-Time's grouped data set (PAPER B.7).

    `sizes` are the rows of the rounds so far, oldest first. Its table of index ranges lists the oldest round first;
    its data, to which every round is put in front, has the newest first. The global generator is left as it was.
    """
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(index)  # noqa: NPY002
    idx = len(sizes) - 1
    groupid = np.random.choice(list(range(max(1, idx - group_size + 1))))  # noqa: NPY002
    window = np.arange(max(0, idx - groupid - group_size), idx + 1)
    meant = np.random.choice(window)  # noqa: NPY002
    start_idx = sum(sizes[:meant])
    sel_idx = np.random.choice(np.arange(start_idx, start_idx + sizes[meant]))  # noqa: NPY002
    np.random.set_state(before)  # noqa: NPY002
    data = [(t, row) for t in reversed(range(len(sizes))) for row in range(sizes[t])]
    return int(meant), int(groupid), *data[sel_idx]


def torch_optimizer(ours, parameters):
    """torch's optimiser of the same name and settings."""
    if type(ours).__name__ == "SGD":
        names = ["lr", "momentum", "weight_decay", "nesterov"]
    else:
        names = ["lr", "betas", "eps", "weight_decay", "amsgrad"]
    made = getattr(torch.optim, type(ours).__name__)
    return made(parameters, **{name: getattr(ours, name) for name in names})
