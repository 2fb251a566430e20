"""Keys with their limits and usage, billing periods, and paying an amount from balances.

Limits of requests and the ends of endpoints are in `ratecard.limits`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ratecard.accounts.keys import Amounts as Amounts
    from ratecard.accounts.keys import ApiKey as ApiKey
    from ratecard.accounts.keys import ApiKeyList as ApiKeyList
    from ratecard.accounts.keys import ConsumptionLimits as ConsumptionLimits
    from ratecard.accounts.keys import KeyUsage as KeyUsage
    from ratecard.accounts.keys import current_period_usage as current_period_usage
    from ratecard.accounts.keys import next_refresh as next_refresh
    from ratecard.accounts.keys import period_end as period_end
    from ratecard.accounts.keys import period_start as period_start
    from ratecard.accounts.keys import trailing_seven_days as trailing_seven_days
    from ratecard.accounts.keys import within_limits as within_limits
    from ratecard.accounts.settlement import BalanceError as BalanceError
    from ratecard.accounts.settlement import TopUpError as TopUpError
    from ratecard.accounts.settlement import check_top_up as check_top_up
    from ratecard.accounts.settlement import daily_allowance as daily_allowance
    from ratecard.accounts.settlement import settle as settle
    from ratecard.base.errors import CurrencyError as CurrencyError

# Each module is imported at the first use of a name, because quotes do not need them.
_NAMES_OF = {
    "ratecard.accounts.keys": (
        *("Amounts", "ApiKey", "ApiKeyList", "ConsumptionLimits", "KeyUsage"),
        *("current_period_usage", "next_refresh", "period_end", "period_start"),
        *("trailing_seven_days", "within_limits"),
    ),
    "ratecard.accounts.settlement": ("BalanceError", "TopUpError", "check_top_up", "daily_allowance", "settle"),
    "ratecard.base.errors": ("CurrencyError",),
}
_HOME_OF = {name: home for home, names in _NAMES_OF.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
