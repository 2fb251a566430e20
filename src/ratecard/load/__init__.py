"""Read a folder of YAML files into checked tables, or into every fault with its `file:line`."""

from ratecard.base.errors import Fault

__all__ = ["Fault"]
