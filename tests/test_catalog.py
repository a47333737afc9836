"""Every name in the catalog stands for something, and a wrong one gets a hint."""

import pytest

from spanwise import AWE, Plain, catalog, checks
from spanwise.errors import SettingError, UnknownNameError

TABLES = {name: table for name, table in vars(catalog).items() if name.isupper()}


@pytest.mark.parametrize(("table", "name"), [(table, name) for table, rows in TABLES.items() for name in rows])
def test_every_name_stands_for_something(table, name):
    assert callable(catalog.find(TABLES[table], name))


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_sorted(table):
    assert list(TABLES[table]) == sorted(TABLES[table])


def test_a_typo_gets_a_hint():
    with pytest.raises(UnknownNameError, match="did you mean saol"):
        catalog.scheme("sola", checks.centroids())
    with pytest.raises(KeyError, match="All: awe"):
        catalog.scheme("zzz", checks.centroids())


def test_settings_reach_the_scheme():
    assert catalog.scheme("awe", checks.centroids(), horizon=16).method.window.horizon == 16
    with pytest.raises(SettingError, match="pass horizon=T"):
        catalog.scheme("awe-literal", checks.centroids())


@pytest.mark.parametrize("what", ["plain", Plain, lambda learner, seed: Plain(learner, seed=seed)])
def test_a_scheme_is_made_from_its_name_its_class_or_a_function(what):
    assert isinstance(catalog.make_scheme(what, checks.centroids(), 3), Plain)
    assert not isinstance(catalog.make_scheme(what, checks.centroids(), 3), AWE)
