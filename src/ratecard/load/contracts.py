"""Read the contracts of a folder of tables: the files of `contracts/`, one contract each."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ratecard.load.text_file import TextFile

if TYPE_CHECKING:
    from ratecard.tables.contract import Contract

# The folder of contracts, inside that of the tables.
CONTRACTS = "contracts/"


def is_contract(name: str) -> bool:
    """Return True for the name of a file of a contract."""
    return name.startswith(CONTRACTS)


def named_contracts(found: "Iterable[tuple[TextFile, Contract]]") -> "Mapping[str, Contract]":
    """Return the contracts of these files by their names, each with its place; a name that two have is a fault."""
    contracts = dict[str, "Contract"]()
    for text, contract in found:
        name = contract.contract
        if name in contracts:
            text.fault(("contract",), f"contract '{name}' is in {contracts[name].place} too. Give it another name")
        place = f"{text.name}:{text.line(('contract',))}"
        contracts[name] = contract.model_copy(update={"place": place})
    return contracts
