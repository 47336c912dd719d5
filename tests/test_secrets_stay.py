"""No error quotes a value of the secret column: it may end in a log, or on another screen."""

import datetime
import traceback

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import uniform

import pmlbook as pb
from pmlbook.files import release_frame
from pmlbook.files.release import release_file
from pmlbook.release.columns import encode

MECHANISM = pb.Mechanism([[0.75, 0.25], [0.25, 0.75]], {"no": 0.5, "yes": 0.5})
NUMBERS = pb.additive_noise.mean_mechanism({0.0: 0.5, 1.0: 0.3, 2.0: 0.2}, 1.0, 4)
QUANTILE = pb.additive_noise.quantile_mechanism(uniform(0, 200), 1.0, bins=4)

TEXT, NUMBER, DAY = "Bechterew", 81273.25, datetime.date(1961, 3, 7)
QUOTES = ("Bechterew", "81273", "81_273", "1961", "(3, 7)")
COLUMNS = {
    "a text": ["no", TEXT],
    "a number": ["no", NUMBER],
    "a whole number": ["no", 81273],
    "bytes": ["no", TEXT.encode()],
    "a date": ["no", DAY],
    "a tuple": ["no", (TEXT, NUMBER)],
    "a list": ["no", [TEXT, NUMBER]],
    "a dict": ["no", {TEXT: NUMBER}],
    "missing beside a secret": [TEXT, None],
    "of NumPy": np.array(["no", TEXT]),
    "dates of NumPy": np.array([DAY], "datetime64[D]"),
    "of pandas": pd.Series(["no", TEXT]),
    "categories": pd.Categorical(["no", TEXT]),
    "numbers of pandas": pd.Series([1.0, NUMBER]),
    "of Arrow": pa.array(["no", TEXT]),
    "two columns": pd.DataFrame({"a": [TEXT], "b": [NUMBER]}),
    "rows": [["no", TEXT], [NUMBER, "yes"]],
    "numbers and a gap": [81273.0, None],
    "huge": [0.0, 81273e200],
    "a text of digits": ["0", "81273.25"],
    "one text": TEXT,
    "one number": NUMBER,
}


def of_file(column, folder, name):
    table = pd.DataFrame({"said": list(column) if np.ndim(column) else [column]}, dtype=object)
    getattr(table.astype(str), f"to_{'csv' if name.endswith('csv') else 'parquet'}")(
        folder / name, index=False
    )
    return release_file(folder / name, folder / f"new.{name}", "said", MECHANISM)


def of_frame(column, folder):
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    with dask.config.set({"dataframe.convert-string": False, "scheduler": "synchronous"}):
        table = pd.DataFrame({"said": pd.Series(column, dtype=object)})
        return release_frame(dd.from_pandas(table, npartitions=1), "said", MECHANISM, folder)


CALLS = {
    "privatize": lambda column, folder: MECHANISM.privatize(column),
    "encode": lambda column, folder: encode(column, ["no", "yes"]),
    "mean": lambda column, folder: NUMBERS.privatize(column),
    "quantile": lambda column, folder: QUANTILE.privatize(column),
    "log": lambda column, folder: pb.budget.ReleaseLog(folder / "log", new=True).privatize(
        "said", MECHANISM, column
    ),
    "frame": lambda column, folder: of_frame(column, folder / "out"),
    "csv": lambda column, folder: of_file(column, folder, "t.csv"),
    "parquet": lambda column, folder: of_file(column, folder, "t.parquet"),
    # a column that was not released at all
    "estimate": lambda column, folder: MECHANISM.estimate(column),
    "two_way": lambda column, folder: pb.estimation.two_way(MECHANISM, column, ["x", "y"]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_refusal_quotes_no_value(call, column, tmp_path):
    with pytest.raises((ValueError, TypeError)) as refused:
        call(column, tmp_path)
    said = str(refused.value)
    cause = refused.value
    while cause := cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__):
        said += str(cause)  # a traceback prints it too
    assert not any(quote in said for quote in QUOTES), said


def test_a_certificate_does_not_quote_a_name_that_it_cannot_hold():
    made = pb.Mechanism(np.eye(2), [0.5, 0.5], [DAY, "never"])
    with pytest.raises(ValueError, match=r"inputs\[0\] of type date cannot be written") as refused:
        made.certify(1.0).to_json()
    assert "1961" not in "".join(traceback.format_exception_only(refused.value))
