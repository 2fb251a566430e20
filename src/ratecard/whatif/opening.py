"""A candidate file as a draft: what the page has controls for becomes theirs, the rest is kept as it is written."""

from pathlib import Path

from ratecard.card import RateCard
from ratecard.load.candidate_file import CandidateFile, load_candidate
from ratecard.load.new_model import model_lines
from ratecard.load.positions import Positions
from ratecard.tables.candidate import Change as Told
from ratecard.tables.candidate import Scale, SetRate
from ratecard.whatif.change import Change, Factor, Kept, NewRate
from ratecard.whatif.choices import rates_on
from ratecard.whatif.draft import Draft, Head

# The columns of the dash and of the keys of a change of a draft.
_DASH, _KEYS = 2, 4


def candidates_in(folder: Path) -> list[Path]:
    """The files of a folder that may be candidates, the newest first."""
    found = [path for path in folder.glob("*.y*ml") if path.is_file()] if folder.is_dir() else []
    return sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.name))


def opened(path: Path, base: RateCard) -> Draft:
    """The draft that a candidate file is. Raises `TableError` for a file that is not a sound candidate."""
    file = load_candidate(path)
    head = file.candidate
    changes = tuple(_change(index, told, file, base) for index, told in file.changes)
    dates = (str(day) if day else "" for day in (head.until, head.announced))
    return Draft(str(head.effective), changes, Head(head.candidate, head.proposed_by, head.why), *dates)


def _change(index: int, told: Told, file: CandidateFile, base: RateCard) -> Change:
    given = file.text.data["changes"][index]
    if isinstance(told, Scale) and told.charge is None and told.round is None:
        named = [(part, name) for part, name in told.scale if name is not None]
        if len(named) == 1:
            [(part, name)] = named
            return Factor(part, (name,), given[told.word], tuple(told.where.items()))
    if isinstance(told, SetRate):
        for choice in rates_on(base, file.candidate.effective, told.set):
            where = {name: set(values) for name, values in choice.where}
            if told.charge == choice.charge and where == {name: set(values) for name, values in told.where.items()}:
                return NewRate(told.set, choice.charge, choice.where, given["rate"])
    of = Positions(file.text.name, file.content)
    return Kept(model_lines(of, ("changes", index), _DASH, _KEYS, "\n"))
