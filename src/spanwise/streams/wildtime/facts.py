"""What Wild-Time says of each of its datasets: fields, timestamps, classes, and where the files come from."""

from collections.abc import Hashable
from dataclasses import dataclass

NEWS = (
    "BLACK VOICES", "BUSINESS", "COMEDY", "CRIME", "ENTERTAINMENT", "IMPACT", "QUEER VOICES", "SCIENCE", "SPORTS",
    "TECH", "TRAVEL",
)  # fmt: skip
LAND_USE = (
    "airport", "airport_hangar", "airport_terminal", "amusement_park", "aquaculture", "archaeological_site", "barn",
    "border_checkpoint", "burial_site", "car_dealership", "construction_site", "crop_field", "dam", "debris_or_rubble",
    "educational_institution", "electric_substation", "factory_or_powerplant", "fire_station", "flooded_road",
    "fountain", "gas_station", "golf_course", "ground_transportation_station", "helipad", "hospital",
    "impoverished_settlement", "interchange", "lake_or_pond", "lighthouse", "military_facility",
    "multi-unit_residential", "nuclear_powerplant", "office_building", "oil_or_gas_facility", "park",
    "parking_lot_or_garage", "place_of_worship", "police_station", "port", "prison", "race_track", "railway_bridge",
    "recreational_facility", "road_bridge", "runway", "shipyard", "shopping_mall", "single-unit_residential",
    "smokestack", "solar_farm", "space_facility", "stadium", "storage_tank", "surface_mine", "swimming_pool",
    "toll_booth", "tower", "tunnel_opening", "waste_disposal", "water_treatment_facility", "wind_farm", "zoo",
)  # fmt: skip
FACES = "faces_aligned_small_mirrored_co_aligned_cropped_cleaned"


@dataclass(frozen=True)
class Dataset:
    """One of Wild-Time's datasets.

    Attributes:
        name: what its files are called.
        fields: what its pickles call the features and the labels.
        timestamps: those that Wild-Time uses.
        classes: by class number; names where the files know them in any form.
        text: whether a row is a text; else it is an image.
        sources: file or folder -> the reader of it; the first that is there is read.
        where: where to get them.
    """

    name: str
    fields: tuple[str, str]
    timestamps: range
    classes: tuple[Hashable, ...]
    text: bool
    sources: dict[str, str]
    where: str


def _stored(name: str) -> dict[str, str]:
    """The two formats that hold every dataset."""
    return {f"{name}.pkl": "pickles:read", f"{name}.hdf5": "hdf5:read"}


HDF5 = "the HDF5 file: spanwise.streams.download.fetch({name!r}, folder); "
PICKLES = "the pickle: github.com/huaxiuyao/Wild-Time; "

DATASETS = {
    "arxiv": Dataset(
        "arxiv",
        ("title", "category"),
        range(2007, 2023),
        tuple(range(172)),
        text=True,
        sources=_stored("arxiv")
        | {"arxiv-metadata-oai-snapshot.json": "json_lines:read", "arxiv.parquet": "parquet:read"},
        where=HDF5 + PICKLES + "the snapshot: kaggle.com/datasets/Cornell-University/arxiv",
    ),
    "fmow": Dataset(
        "fmow",
        ("image_idxs", "labels"),
        range(16),
        LAND_USE,
        text=False,
        sources=_stored("fmow") | {"rgb_metadata.csv": "wilds:read", "fmow_v1.1/rgb_metadata.csv": "wilds:read"},
        where=PICKLES + "metadata and images: wilds.stanford.edu/datasets, FMoW v1.1",
    ),
    "huffpost": Dataset(
        "huffpost",
        ("headline", "category"),
        range(2012, 2019),
        NEWS,
        text=True,
        sources=_stored("huffpost")
        | {f"News_Category_Dataset_v{version}.json": "json_lines:read" for version in (2, 3)}
        | {"huffpost.parquet": "parquet:read"},
        where=HDF5 + PICKLES + "the JSON lines: kaggle.com/datasets/rmisra/news-category-dataset",
    ),
    "yearbook": Dataset(
        "yearbook",
        ("images", "labels"),
        range(1930, 2014),
        ("M", "F"),
        text=False,
        sources=_stored("yearbook") | {FACES: "faces:read"},
        where=HDF5 + PICKLES + "the portraits: shiry.ttic.edu/projects/yearbooks",
    ),
}
