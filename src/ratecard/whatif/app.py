"""The page served to this machine alone."""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from ratecard.whatif.session import Desk

HOST = "127.0.0.1"
# Whoever is still connected does not keep the server from ending.
_GRACE = 2


class PortError(OSError):
    """A port on which nothing can be served."""


def free_port(port: int) -> int:
    """The port, if it is free; 0 means any. Raises `PortError`."""
    try:
        with socket.create_server((HOST, port)) as probe:
            return int(probe.getsockname()[1])
    except OSError as error:
        raise PortError(f"port {port} cannot be used: {error.strerror}") from None


def serve_page(
    desk: Desk,
    *,
    usage: str,
    command: str,
    day: date,
    tables: Path | None,
    port: int,
    show: bool,
    ready: Callable[[], object],
) -> None:
    """Serve the page until it is interrupted; `ready` is called once. What is saved can be promoted to `tables`.

    Requests that were not sent to this machine by a name of its own are refused.
    """
    with TemporaryDirectory(prefix="ratecard-") as folder:
        # NiceGUI would keep files in the folder in which it is started.
        os.environ["NICEGUI_STORAGE_PATH"] = folder
        from nicegui import app, ui
        from starlette.middleware.trustedhost import TrustedHostMiddleware

        from ratecard.whatif.page import WhatIfPage

        # A name of somewhere else that leads to this machine is how a web page would reach in.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
        app.on_startup(ready)

        async def page() -> None:
            made = WhatIfPage(desk, usage, command, day, tables)
            # What a tab had before is known once it is connected.
            await ui.context.client.connected()
            made.start()

        with suppress(KeyboardInterrupt):
            ui.run(
                page,
                host=HOST,
                port=port,
                title="What if? ratecard",
                show=show,
                reload=False,
                dark=None,
                tailwind=False,
                show_welcome_message=False,
                timeout_graceful_shutdown=_GRACE,
            )
