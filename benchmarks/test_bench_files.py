"""What `spanwise run` costs: memory on a file of 5 million rows, seconds on real files.

Real files are looked for in the folder SPANWISE_DATA, or else in ../shared/data beside the checkout. Figures go to
results/files_cost.json.
"""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spanwise.evaluate import read

HOME = Path(__file__).parents[1]
DATA = Path(os.environ.get("SPANWISE_DATA", HOME.parent / "shared" / "data"))
RESULTS = "files_cost.json"
MONTHS, ROWS_A_MONTH = 48, 104_167
MOST_MEGABYTES = 2_000
REAL = {
    "huffpost_by_month": (
        "huffpost.parquet",
        "--label category --time date --every month --text headline",
        120,
        63_905,
    ),
    "flights_by_week": ("flights.parquet", "--label delayed --time time --every week", 60, 327_346),
}
"""File, options, the seconds that it may take on two cores, and its rows."""


def test_five_million_rows_are_played_in_two_gigabytes(record, tmp_path):
    file = tmp_path / "many.parquet"
    rows = write_many(file)
    options = "--label late --time when --every month"
    seconds, megabytes = play(file, options, tmp_path / "out")
    played = read(tmp_path / "out" / "rounds.jsonl")
    record(
        benchmark="five_million_rows_by_month",
        rows=rows,
        rounds=MONTHS,
        megabytes_of_the_file=round(file.stat().st_size / 1e6),
        schemes=list(dict.fromkeys(row.scheme for row in played)),
        seconds=round(seconds, 1),
        peak_megabytes=round(megabytes),
    )
    assert rows >= 5_000_000
    assert sum(row.n for row in played if row.scheme == "awe") == rows
    assert megabytes < MOST_MEGABYTES


@pytest.mark.parametrize("name", REAL)
def test_real_files(record, tmp_path, name):
    file, options, allowed, rows = REAL[name]
    if not (DATA / file).exists():
        pytest.skip(f"there is no {file} in {DATA}: set SPANWISE_DATA to the folder that holds it")
    seconds, megabytes = play(DATA / file, options, tmp_path / "out")
    played = read(tmp_path / "out" / "rounds.jsonl")
    plain = [row for row in played if row.scheme == "plain"]
    record(
        benchmark=f"run_{name}",
        rows=rows,
        rounds=len(plain),
        schemes=list(dict.fromkeys(row.scheme for row in played)),
        seconds=round(seconds, 1),
        seconds_allowed=allowed,
        peak_megabytes=round(megabytes),
    )
    assert sum(row.n for row in plain) == rows
    assert all(len([row for row in played if row.scheme == name]) == len(plain) for name in {r.scheme for r in played})


def play(file, options, out):
    """Seconds and megabytes at the peak of `spanwise run`, in a process of its own."""
    begin = perf_counter()
    command = [sys.executable, "-c", "from spanwise.cli.main import cli; cli()", "run", str(file), *options.split()]
    process = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return perf_counter() - begin, usage.ru_maxrss / (1e3 if sys.platform == "linux" else 1e6)


def write_many(file):
    """Rows in the order of time, a month at a time: numbers, some of them missing, a category, a rule that shifts."""
    rng = np.random.default_rng(0)
    writer = None
    for month in range(MONTHS):
        begin = np.datetime64("2015-01") + month
        span = int((begin + 1).astype("M8[s]").astype(int) - begin.astype("M8[s]").astype(int))
        when = begin.astype("M8[s]") + np.sort(rng.integers(0, span, ROWS_A_MONTH))
        X = rng.normal(size=(ROWS_A_MONTH, 4))
        shop = rng.integers(0, 40, ROWS_A_MONTH)
        late = X @ np.roll([2.0, 1.0, 0.0, -1.0], month // 16) + 0.05 * shop + rng.normal(size=ROWS_A_MONTH) > 1
        columns = {f"x{j}": pa.array(X[:, j], mask=rng.random(ROWS_A_MONTH) < 0.02 * j) for j in range(4)}
        shops = pa.array([f"shop {i}" for i in range(40)]).take(pa.array(shop))
        table = pa.table({"when": when, **columns, "shop": shops, "late": late})
        writer = writer or pq.ParquetWriter(file, table.schema)
        writer.write_table(table)
    writer.close()
    return MONTHS * ROWS_A_MONTH
