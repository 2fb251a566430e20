"""What begins like a URL, in the same words for a request, its OpenAPI description, and the engines of a simulation."""

import duckdb
import pytest

from ratecard.requests.fields import URL, Url


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ("https://example.com/clip.mp4", True),
        ("HTTPS://example.com", True),
        (" \t\r\n\fhttps://example.com", True),
        ("s3+x.y-z://bucket", True),
        ("data:video/mp4;base64,AA", True),
        ("DATA:,", True),
        ("data:" + "x" * 200 + ",", True),
        ("data:" + "x" * 201 + ",", False),
        ("", False),
        ("example.com/clip.mp4", False),
        ("https://", False),
        ("https://#", False),
        ("https:// example.com", False),
        ("https://example .com/clip.mp4", False),
        ("https://example.com clip.mp4", False),
        ("https://example.com/a clip.mp4", True),
        ("https://example.com?a clip", True),
        ("https://example.com \n", True),
        ("1https://example.com", False),
        # White space and letters beyond ASCII, which three readers once read in three ways.
        ("\xa0https://example.com", False),
        ("\x0bhttps://example.com", False),
        ("https://\xa0example.com", True),
        ("\u017ftp://example.com", False),
        ("htt\u212a://example.com", False),
    ],
)
def test_a_url_is_one_for_every_reader(given: str, accepted: bool) -> None:
    assert (Url().accept(given) == given) is accepted
    with duckdb.connect() as connection:
        assert connection.execute("SELECT regexp_matches(?, ?)", [given, URL]).fetchone() == (accepted,)
