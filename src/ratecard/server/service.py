"""What the endpoints share: the rate card, who may ask, how videos are probed, how long a body may be."""

from dataclasses import dataclass

from fastapi import Security
from fastapi.params import Depends

from ratecard.server.bearer import Bearer, Check
from ratecard.server.live import LiveRateCard
from ratecard.server.source import Probe

MOST_BODY_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Service:
    """One service. Without `check` everybody may ask; without `probe` nothing is fetched."""

    live: LiveRateCard
    check: Check | None = None
    probe: Probe | None = None
    most_body_bytes: int = MOST_BODY_BYTES

    @property
    def guards(self) -> list[Depends]:
        """The dependencies of an endpoint that needs an account."""
        return [Security(Bearer(self.check))] if self.check else []
