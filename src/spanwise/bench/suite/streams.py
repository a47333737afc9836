"""The streams of the suite: those a scheme is found on, and those that confirm it.

A scheme may be tuned on the *development* streams as often as one likes. The *confirmation* streams are for when it is
fixed; `Spanwise` was changed after they had been looked at, more than once. The *replication* streams came with the
first of these changes. An *adversary* gives nobody a chance to learn from the past, and is reported apart.
"""

from functools import partial

from spanwise.bench.suite.sources import Source, array_file, generated, phases, pictures, synthetic, table
from spanwise.streams import Abrupt, CovariateShift, Gradual, LabelShift, Recurring, Stationary
from spanwise.streams.wildtime import WildTime

HALF_YEAR = 365.25 / 2
"""Days."""

HEADLINES = partial(table, "huffpost.parquet", label="category", time="date", text="headline")
TURNED = ((1, 0.0), (16, 75.0), (31, 160.0), (46, 0.0))

DIGITS = phases("n_drift_features", 0, 3, 5, 7, noise_percentage=0.1, irrelevant_features=True)
MOVING = {"n_classes": 4, "n_features": 10, "n_centroids": 20, "n_drift_centroids": 20, "change_speed": 0.0001}

STREAMS: dict[str, Source] = {
    "electricity": Source("development", "array", partial(array_file, "elec2.npz", 336)),  # a week of half-hours
    "insects": Source("development", "array", partial(array_file, "insects_gradual_balanced.npz", 250)),
    "huffpost-month": Source("development", "text", partial(HEADLINES, every="month")),
    "arxiv-year": Source("development", "text", partial(WildTime, "arxiv", most=2000)),
    "rotating-mnist": Source(
        "development", "array", partial(pictures, "RotatingImages", source="mnist", angles=TURNED)
    ),
    "abrupt": Source("development", "array", partial(synthetic, Abrupt)),
    "gradual": Source("development", "array", partial(synthetic, Gradual)),
    "stationary": Source("development", "array", partial(synthetic, Stationary)),
    "weather": Source("confirmation", "array", partial(array_file, "noaa_weather.npz", HALF_YEAR)),
    "rialto": Source("confirmation", "array", partial(array_file, "rialto.npz", 823)),
    "spam": Source("confirmation", "array", partial(array_file, "spam_corpus_bow.npz", 100)),
    "flights": Source(
        "confirmation", "columns", partial(table, "flights.parquet", label="delayed", time="time", every="week")
    ),
    "huffpost-year": Source("confirmation", "text", partial(HEADLINES, every="year")),
    "seasonal-cifar10": Source(  # 16 x 16 pixels in three colours, as many numbers as MNIST has: 3,072 took ten minutes
        "confirmation", "array", partial(pictures, "SeasonalImages", source="cifar10", every=5, block=2)
    ),
    "recurring": Source("confirmation", "array", partial(synthetic, Recurring, seed=1)),
    "label-shift": Source("confirmation", "array", partial(synthetic, LabelShift, seed=1)),
    "covariate-shift": Source("confirmation", "array", partial(synthetic, CovariateShift, seed=1)),
    "second-stationary": Source(
        "confirmation", "array", partial(synthetic, Stationary, classes=6, features=20, seed=1)
    ),
    "tweets": Source(
        "replication", "text", partial(table, "tweets.parquet", label="source", time="time", text="text", every=200)
    ),
    "movies": Source(
        "replication", "text", partial(table, "movies.parquet", label="genre", time="time", text="title", every="year")
    ),
    "rodents": Source(
        "replication", "columns", partial(table, "rodents.parquet", label="species_id", time="time", every="quarter")
    ),
    "stops": Source(
        "replication", "columns", partial(table, "stops.parquet", label="problem", time="time", every="week")
    ),
    "strikes": Source(
        "replication", "columns", partial(table, "strikes.parquet", label="phase_of_flt", time="time", every=200)
    ),
    "pizzas": Source(
        "replication", "columns", partial(table, "pizzas.parquet", label="type", time="time", every="week")
    ),
    "ratings": Source(
        "replication", "columns", partial(table, "ratings.parquet", label="liked", time="time", every=1000)
    ),
    "sea": Source("replication", "array", partial(generated, "SEA", phases=phases("variant", 0, 3, 1, 2, noise=0.1))),
    "agrawal": Source(
        "replication",
        "array",
        partial(generated, "Agrawal", phases=phases("classification_function", 0, 4, 2, 6, perturbation=0.05)),
    ),
    "sine": Source(
        "replication",
        "array",
        partial(generated, "Sine", phases=phases("classification_function", 0, 1, 2, 3, has_noise=True)),
    ),
    "led": Source("replication", "array", partial(generated, "LEDDrift", phases=DIGITS, labels=10)),
    "hyperplane": Source(
        "replication", "array", partial(generated, "Hyperplane", phases=[{"n_drift_features": 5, "mag_change": 0.001}])
    ),
    "moving-rbf": Source(
        "replication",
        "array",
        partial(generated, "RandomRBFDrift", phases=[MOVING], labels=4, seeds=("seed_model", "seed_sample")),
    ),
    "stationary-waveform": Source("replication", "array", partial(generated, "Waveform", labels=3)),
    "new-each-round": Source("adversary", "array", partial(synthetic, Abrupt, every=1)),
}

DRAWN = frozenset(
    name for name, source in STREAMS.items() if getattr(source.open, "func", None) in (synthetic, generated)
)
"""Streams that no data is behind."""
