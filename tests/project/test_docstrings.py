"""The lines that `_docstrings` adds."""

from jaxops._docstrings import completed


def squeeze(input, axis=None, name=None, *, mode=None):
    """Removes.

    Args:
        input: array.
        axis: static int.
        mode: static.

    Returns:
        Array.
    """


def test_name_stands_before_what_follows_it_and_the_page_stands_last():
    text = completed("squeeze", squeeze)
    arguments = text.partition("Args:\n")[2].partition("\n\n")[0].split("\n")
    assert [line.split(":")[0].strip() for line in arguments] == [
        *("input", "axis", "name", "mode")
    ]
    page = "https://www.tensorflow.org/api_docs/python/tf/squeeze"
    assert text.endswith(f"Returns:\n    Array.\n\nSource: {page}")


def test_name_stands_last_where_nothing_follows_it():
    def segment_min(data, name=None):
        """Least.

        Args:
            data: array.

        Returns:
            Array.
        """

    text = completed("segment_min", segment_min)
    assert "    data: array.\n    name: static" in text
    assert text.endswith("/tf/math/segment_min")


def test_entries_that_stand_together_come_apart():
    def gather(params, out_sharding=None):
        """Gathers.

        Args:
            params, indices: as in `gather_nd`.

        Raises:
            TypeError, ValueError: as `gather_nd`.

        Example:
            a, b: as in no docstring
        """

    text = completed("gather", gather)
    assert (
        "    params: as in `gather_nd`.\n    indices: as in `gather_nd`.\n    out_sharding:" in text
    )
    assert "    TypeError: as `gather_nd`.\n    ValueError: as `gather_nd`.\n\n" in text
    assert "    a, b: as in no docstring" in text


def test_what_a_docstring_says_itself_stays():
    def rank(input, name=None):
        """Rank.

        Args:
            input: array.
            name: nothing.

        Source: https://example.org
        """

    text = completed("rank", rank)
    assert text.count("name: ") == 1
    assert text.count("Source: ") == 1


def test_a_function_that_tensorflow_lacks_has_no_page():
    def take_along_axis(arr):
        """Takes."""

    assert completed("take_along_axis", take_along_axis) == "Takes."
