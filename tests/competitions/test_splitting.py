"""The public split: drawn by the seed, the same for the same ids, each kind of question giving its share."""

import pytest

from malpan.competitions.splitting import ids_of_text, split_ids, unknown_ids

IDS = [f"q{number}" for number in range(1, 101)]


@pytest.mark.parametrize(("percent", "count"), [(1, 1), (30, 30), (50, 50), (99, 99)])
def test_public_split_is_the_share(percent, count):
    assert len(split_ids(IDS, percent, "s")) == count


def test_same_seed_splits_alike_in_whatever_order_the_items_stand():
    assert set(split_ids(IDS, 30, "s")) == set(split_ids(IDS[::-1], 30, "s"))
    assert split_ids(IDS, 30, "s") == sorted(split_ids(IDS, 30, "s"), key=IDS.index)
    assert set(split_ids(IDS, 30, "s")) != set(split_ids(IDS, 30, "t"))


def test_split_does_not_change_between_releases():
    assert split_ids(IDS[:10], 30, "seed") == ["q4", "q5", "q7"]


def test_every_stratum_gives_its_share_and_the_total_holds():
    strata = {
        item: "선다형" if number < 60 else "단답형" if number < 95 else "서술형" for number, item in enumerate(IDS)
    }
    public = split_ids(IDS, 30, "s", strata)

    counts = {kind: sum(strata[item] == kind for item in public) for kind in ("선다형", "단답형", "서술형")}
    assert len(public) == 30
    assert counts["선다형"] == 18
    assert counts["단답형"] in (10, 11)
    assert counts["서술형"] in (1, 2)


def test_what_is_missing_goes_to_the_largest_remainders_and_then_by_name():
    sizes = {"가": 11, "나": 14, "다": 12, "라": 12, "마": 12}  # of 30 %: 3.3, 4.2, 3.6, 3.6, 3.6; together 18.3
    strata = {f"{kind}{number}": kind for kind, size in sizes.items() for number in range(size)}
    public = split_ids(list(strata), 30, "s", strata)

    assert {kind: sum(strata[item] == kind for item in public) for kind in sizes} == {
        "가": 3, "나": 4, "다": 4, "라": 4, "마": 3,
    }  # fmt: skip
    assert len(public) == 18


def test_a_single_item_is_public():
    assert split_ids(["q1"], 1, "s") == split_ids(["q1"], 99, "s") == ["q1"]


@pytest.mark.parametrize("count", range(2, 12))
@pytest.mark.parametrize("percent", [1, 10, 50, 90, 99])
def test_neither_part_is_empty_however_few_the_items(count, percent):
    strata = {item: str(number) for number, item in enumerate(IDS[:count])}  # every item a kind of its own
    for kinds in (None, strata):
        assert 1 <= len(split_ids(IDS[:count], percent, "s", kinds)) <= count - 1


def test_no_share_of_nothing_or_of_everything():
    for percent in (0, 100, -1):
        with pytest.raises(ValueError, match="public share"):
            split_ids(IDS, percent, "s")


def test_a_pasted_list_may_stand_in_lines_or_be_parted_by_commas():
    assert ids_of_text(" q1\nq2, q3\n\n,q1\r\n") == ["q1", "q2", "q3"]
    assert unknown_ids(["q1", "x", "q2", "y"], IDS) == ["x", "y"]
