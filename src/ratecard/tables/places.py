"""Where the loader puts the `file:line` of a part of a table: keys that files themselves may not have."""

from collections.abc import Mapping

# The key of the `file:line` of a rate, and of any other part on one line.
SOURCE_KEY = "@source"
# The key of the `file:line` of a version's minimum.
MINIMUM_KEY = "@minimum"
# Where the parts of lists get a `file:line`: by the list and the key whose line it is.
PLACED_BY: Mapping[str | int, Mapping[str, str]] = {
    "rates": {"rate": SOURCE_KEY},
    "factors": {"factor": SOURCE_KEY},
    "examples": {"total": SOURCE_KEY},
    "overrides": {"for": SOURCE_KEY},
    "versions": {"effective": SOURCE_KEY, "minimum": MINIMUM_KEY},
    # In the file of limits.
    "limits": {"effective": SOURCE_KEY},
    "text": {"tier": SOURCE_KEY},
    "types": {"type": SOURCE_KEY},
    "sunsets": {"endpoint": SOURCE_KEY},
    # The terms of a month.
    "monthly": dict.fromkeys(("included", "graduated", "volume", "commitment", "minimum"), SOURCE_KEY),
}
