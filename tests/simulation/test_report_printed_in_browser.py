"""The page as it is printed by Chromium: nothing covers anything, and every chart is on the paper."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy
import pypdfium2
import pytest

from ratecard.simulation.answers.volume import elasticities_of
from ratecard.simulation.report.output import write
from ratecard.simulation.report.report import Question, Report
from reports import PERIODS, mixed

_CHARTS = ("Revenue by day", "Change by model", "Customers by change", "Why revenue changes")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A report with everything that it can have, printed as a person would do it in one command."""
    if (chromium := shutil.which("chromium") or shutil.which("google-chrome")) is None:
        pytest.skip("no browser: Chromium must be on the PATH")
    folder = tmp_path_factory.mktemp("printed")
    with mixed(folder) as simulation:
        report = Report(simulation, Question("", elasticities_of({"all": -1}), bridge=PERIODS))
        write(report, [folder / "report.html"])
    # One table becomes long enough for several sheets.
    page = (folder / "report.html").read_text(encoding="utf-8")
    begin = page.index("<tbody>", page.index("Expected by model</h2>")) + len("<tbody>")
    end = page.index("</tbody>", begin)
    (folder / "report.html").write_text(page[:begin] + page[begin:end] * 20 + page[end:], encoding="utf-8")
    out, address = folder / "report.pdf", (folder / "report.html").as_uri()
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    subprocess.run([chromium, *options, f"--print-to-pdf={out}", address], check=True, capture_output=True, timeout=120)
    with pypdfium2.PdfDocument(out) as document:
        yield document


def texts(document: Any) -> list[str]:
    return [page.get_textpage().get_text_bounded().replace("\r\n", "\n") for page in document]


def test_what_is_read_first_comes_first_and_is_whole(printed: Any) -> None:
    words = " ".join(" ".join(texts(printed)).split())
    first = [
        "Expected revenue",
        "requests of 2026-10-01 to 2026-10-11, each at",
        "Revenue under each",
        "rows have no price",
    ]
    places = [
        words.index(each) for each in (*first, "Expected by model", *_CHARTS, "Margin by model", "All figures", "About")
    ]
    assert places == sorted(places)


def test_a_table_over_several_sheets_has_its_headings_on_each_and_its_total_once(printed: Any) -> None:
    sheets = [" ".join(text.split()) for text in texts(printed)]
    first = next(at for at, text in enumerate(sheets) if "Expected by model" in text)
    last = next(at for at, text in enumerate(sheets) if "The first 40 rows" in text)
    assert last > first
    for text in sheets[first : last + 1]:
        assert "Current: requests" in text
    table = " ".join(sheets[first : last + 1]).partition("Expected by model")[2].partition("The first 40 rows")[0]
    assert table.count("Total") == 1


def test_tables_that_are_folded_on_the_screen_are_on_the_paper(printed: Any) -> None:
    """Below "All figures" stand the rows of every key, not the headings alone."""
    words = " ".join(" ".join(texts(printed)).split())
    figures = words.partition("All figures")[2].partition("About")[0]
    assert "By model" in figures
    assert figures.count("Total") == figures.count(" By ")


def test_units_stay_on_their_line(printed: Any) -> None:
    """A unit is a word of its own on the sheet: it does not end in the middle of the line, and go on below."""
    words = " ".join(texts(printed)).split()
    assert "video_second" in words and "video_seco" not in words


def test_no_line_of_text_lies_over_another(printed: Any) -> None:
    """Of no two pieces of text on a page does one cover the other."""
    for number, page in enumerate(printed):
        found = page.get_textpage()
        boxes = [found.get_rect(at) for at in range(found.count_rects())]
        boxes = [box for box in boxes if box[2] - box[0] > 1 and box[3] - box[1] > 1]
        for at, one in enumerate(boxes):
            for other in boxes[at + 1 :]:
                wide = min(one[2], other[2]) - max(one[0], other[0])
                high = min(one[3], other[3]) - max(one[1], other[1])
                least = min(one[3] - one[1], other[3] - other[1])
                assert wide < 2 or high < least / 2, (
                    number,
                    found.get_text_bounded(*one),
                    found.get_text_bounded(*other),
                )


def test_every_chart_is_drawn_on_the_paper(printed: Any) -> None:
    """Beside the heading of each chart there are the bars and lines of its colours, and what the axes say."""
    words = texts(printed)
    assert "-$" in " ".join(words) and "$-" not in " ".join(words) and "$\N{MINUS SIGN}" not in " ".join(words)
    for title in _CHARTS:
        number = next(at for at, text in enumerate(words) if f"{title}\n" in text)
        page = printed[number]
        heading = page.get_textpage()
        search = heading.search(title)
        place = search.get_next()
        assert place is not None
        top = page.get_height() - heading.get_charbox(place[0])[1]
        picture = page.render(scale=1).to_numpy()[int(top) : int(top) + 260, :, :3].astype(int)
        coloured = (picture.max(axis=2) - picture.min(axis=2)) > 60
        assert coloured.sum() > 200, title
        # The chart is not wider than the sheet: the right edge is free.
        columns = numpy.flatnonzero(coloured.any(axis=0))
        assert columns.max() < page.get_width() - 10, title
