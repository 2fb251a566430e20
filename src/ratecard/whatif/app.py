"""Serve the page to this machine only."""

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from tempfile import TemporaryDirectory

from ratecard.whatif.draft_pricer import DraftPricer
from ratecard.whatif.report_process import RecordedUsage

HOST = "127.0.0.1"
# The seconds for which open connections may delay the end of the server.
_GRACE = 2
# The seconds after which a browser that does not answer counts as gone. Text that is typed while it reconnects is lost,
# and a busy machine can keep it from answering for some seconds.
_LOST = 60


class PortError(OSError):
    """A port that cannot be used."""


def free_port(port: int) -> int:
    """Return the port, if it is free; 0 means any. Raises `PortError`."""
    try:
        with socket.create_server((HOST, port)) as probe:
            return int(probe.getsockname()[1])
    except OSError as error:
        raise PortError(f"port {port} cannot be used: {error.strerror}") from None


def serve_page(
    pricer: DraftPricer,
    *,
    command: str,
    recorded: RecordedUsage,
    day: date,
    port: int,
    show: bool,
    ready: Callable[[], object],
) -> None:
    """Serve the page until it is interrupted. Requests to another host name than this machine's are refused.

    `command` (which simulates the same usage) is shown, `recorded` says how to read it again for a report, `day` is
    that of the prices; `show` opens a browser, and `ready` is called once.
    """
    with TemporaryDirectory(prefix="ratecard-") as folder:
        # Otherwise NiceGUI keeps files in the current folder.
        os.environ["NICEGUI_STORAGE_PATH"] = folder
        from nicegui import app, ui
        from starlette.middleware.trustedhost import TrustedHostMiddleware

        from ratecard.whatif.page import WhatIfPage

        # A foreign web page could reach this one by another host name that resolves to this machine.
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
        app.on_startup(ready)

        async def page() -> None:
            what_if_page = WhatIfPage(pricer, command, recorded, day)
            # The storage of a tab is known only once it is connected; programs that only read the page never connect.
            client = ui.context.client
            await client.connected()
            if client.has_socket_connection:
                what_if_page.start()

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
                reconnect_timeout=_LOST,
            )
