"""The five deep learners around an MLP, a CNN and an encoder: what each is made of, and that it learns."""

import numpy as np
import pytest
import torch

from spanwise import AWE, checks
from spanwise.adapters.features import Featured
from spanwise.deep import AdamW, ready
from spanwise.deep.networks.pictures import PictureCNN
from spanwise.errors import FeatureError, SettingError, UnknownNameError
from spanwise.schemes.plain import Plain

GOOD, BAD = ["goal match win", "win team", "team goal"], ["oil price", "bank oil", "price bank oil"]


def as_pictures(X):
    """Four numbers a row as four corners of a picture, (n, 8, 8, 3) bytes."""
    corners = np.clip(128 + 12 * X, 0, 255).astype(np.uint8).reshape(-1, 2, 2, 1)
    return corners.repeat(4, axis=1).repeat(4, axis=2).repeat(3, axis=3)


@pytest.mark.parametrize("check", checks.LEARNER, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ready.FIVE)
def test_every_learner_of_images(name, check):
    check(Featured(as_pictures, ready.for_images(name, steps=6, batch_size=16, device="cpu")))


@pytest.mark.parametrize("name", ready.FIVE)
def test_the_names_stand_for_what_they_say(name):
    for learner in (getattr(ready, name)(), ready.for_images(name, device="cpu")):
        recipe = learner.trainer.recipe
        made = {"penalty": recipe.penalty, "objective": recipe.objective}
        assert {part: value for part, value in ready.parts(name).items() if made[part] is not value} == {}
        if name in ("ft", "si", "ewc"):
            assert recipe.objective.rounds == 1


def test_a_name_that_is_none_is_refused():
    with pytest.raises(UnknownNameError, match=r"no deep learner 'sgd'\. All: ft, si, ewc, irm, coral"):
        ready.for_images("sgd")


# Images


@pytest.mark.parametrize("shape", [(2, 9, 8, 3), (2, 3, 9, 8), (2, 1, 9, 8), (2, 9, 8, 1), (2, 9, 8)], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_pictures_of_every_kind_become_three_colours(shape, dtype):
    prepared = PictureCNN().prepare(np.ones(shape, dtype=dtype))
    assert prepared.shape == (2, 3, 9, 8)
    assert prepared.dtype == torch.float32
    assert torch.allclose(prepared, torch.tensor(1 / 255 if dtype is np.uint8 else 1.0))


def test_what_is_no_picture_is_refused():
    for X in (np.zeros((2, 64)), np.zeros((2, 2, 9, 9)), np.zeros((2, 7, 7))):
        with pytest.raises(FeatureError, match="expected images"):
            PictureCNN().prepare(X)


def test_pictures_are_told_apart():
    rng = np.random.default_rng(0)
    model = Plain(ready.for_images("ft", steps=30, device="cpu"))
    for _ in range(3):
        y = np.arange(60) % 2
        X = rng.integers(60, size=(60, 8, 8, 3), dtype=np.uint8)
        X[y == 1, :4] += 100
        model.learn(X, y)
    assert (model.predict(X) == y).mean() > 0.9


# Texts


@pytest.fixture(scope="module")
def folder(tiny_encoder):
    return tiny_encoder(word for text in (*GOOD, *BAD) for word in text.split())


def test_loading_an_encoder_shows_no_bar(folder, capfd):
    ready.encoded(folder, steps=1, longest=20, device="cpu")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ready.FIVE)
def test_fine_tuning_has_wild_times_settings(folder, name):
    learner = ready.fine_tuned(folder, name, steps=3, longest=20, device="cpu")
    trainer = learner.trainer
    assert trainer.recipe.optimizer == AdamW(lr=2e-5, weight_decay=0.01)
    assert trainer.shape == (3, 32 if name in ("irm", "coral") else 16)
    model = AWE(learner)
    for _ in range(3):
        model.learn([*GOOD, "", *BAD], [1] * 4 + [0] * 3)
    assert set(model.predict(["goal", ""])) <= {0, 1}
    weights = model.method.pool.engine.instances[model.method.pool.spans[0]].instance.shapes
    assert any(weight.startswith("body.") for weight in weights)


def test_a_frozen_encoder_reads_a_text_once_and_trains_a_head_alone(folder, tmp_path):
    learner = ready.encoded(folder, steps=150, longest=20, device="cpu")
    backbone = learner.trainer.network.given.backbone
    models = [AWE(learner), Plain(learner)]
    for _ in range(3):
        for model in models:
            model.learn([*GOOD, *BAD] * 3, [1, 1, 1, 0, 0, 0] * 3)
            assert model.predict([*GOOD, *BAD]).tolist() == [1, 1, 1, 0, 0, 0]
    assert len(backbone.remembered) == 6
    shapes = models[1].method.pool.engine.instances[models[1].method.pool.spans[0]].instance.shapes
    assert shapes == {"head.head.weight": (2, 16), "head.head.bias": (2,)}
    models[0].save(tmp_path / "model")
    again = AWE.load(tmp_path / "model", learner)
    assert np.array_equal(again.predict_proba(GOOD), models[0].predict_proba(GOOD))


def test_a_frozen_encoder_in_bfloat16_has_a_head_in_float32(folder):
    learner = ready.encoded(folder, "si", longest=20, device="cpu", precision="bf16").fresh(0)
    learner.learn([*GOOD, *BAD], np.array([1, 1, 1, 0, 0, 0]))
    assert learner.instance.tensors["theta"].dtype == torch.float32
    assert np.isfinite(learner.logits(GOOD)).all()


def test_a_folder_that_holds_no_encoder_is_refused_by_name(tmp_path):
    pytest.importorskip("transformers", reason="transformers is not installed")
    for make in (ready.encoded, ready.fine_tuned):
        with pytest.raises(SettingError, match=r"config\.json"):
            make(tmp_path, "ft")
