"""One server for each test."""

from collections.abc import Iterator

import pytest
from video_server import VideoServer, running


@pytest.fixture
def server() -> Iterator[VideoServer]:
    with running(VideoServer()) as server:
        yield server
