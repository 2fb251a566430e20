"""Read the `service_parameters` of a text request (in its body, or its model's name), and the searches to bill."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict

from ratecard.base.messages import Problems, echo, field_names, wrong_type
from ratecard.base.suggestions import did_you_mean
from ratecard.requests.body import MOST_PROBLEMS, mapping_of
from ratecard.requests.fields import Boolean, Choice, Field, TextField, field_problems
from ratecard.tables.card import AnyModel, Tables


class ServiceParameters(BaseModel):
    """The parameters of a text request; three of them switch searches. None means the API's default.

    The API passes others through unread, so they have no effect on a price.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    character_slug: str | None = None
    strip_thinking_response: bool | None = None
    disable_thinking: bool | None = None
    enable_web_search: Literal["off", "on", "auto"] | None = None
    enable_web_scraping: bool | None = None
    enable_x_search: bool | None = None
    enable_web_citations: bool | None = None
    include_search_results_in_stream: bool | None = None
    return_search_results_as_documents: bool | None = None
    include_venice_system_prompt: bool | None = None


def _field_of(annotation: Any) -> Field:
    """Return the check of a parameter that has this type, or is left out."""
    type_ = get_args(annotation)[0]
    if words := get_args(type_):
        return Choice(words)
    return Boolean() if type_ is bool else TextField()


# The check of each parameter of this service's API, by name; `service_parameters` of vocabulary.yaml enables them.
PARAMETERS = {name: _field_of(field.annotation) for name, field in ServiceParameters.model_fields.items()}
# By kind of search: the field that counts it, and the parameter that switches it.
SEARCHES = {
    "web_search": ("web_search_requests", "enable_web_search"),
    "web_scraping": ("scraped_urls", "enable_web_scraping"),
    "x_search": ("x_search_results", "enable_x_search"),
}
# The parameters in a model's name, in order. A part without `=` is not a parameter, and its value is None.
Suffix = tuple[tuple[str, Any], ...]
_BOOLEANS = {"true": True, "false": False}
# The `:` before a parameter with its value.
_PARAMETER = re.compile(":(?=[^:&=]*=)")


def split_name(name: str) -> tuple[str, str]:
    """Split a model's name before the `:` that begins its parameters; a `:` without a `=` after it is part of the name.

    >>> split_name("llama3:8b:enable_web_search=on"), split_name("llama3:8b")
    (('llama3:8b', ':enable_web_search=on'), ('llama3:8b', ''))
    """
    match = _PARAMETER.search(name)
    return (name, "") if match is None else (name[: match.start()], name[match.start() :])


def plain_name(tables: Tables, name: str) -> str:
    """Return the name of a model without the parameters that may follow it in a text request."""
    if name in tables.models or name in tables.aliases or not tables.vocabulary.service_parameters:
        return name
    plain, suffix = split_name(name)
    base_name = name.partition(":")[0]
    # A parameter without a value is split off too, so that the error can name it.
    if not suffix and base_name in tables.models and tables.named(name) is None:
        return base_name
    return plain


def model_named(tables: Tables, name: str | None) -> AnyModel | None:
    """Return the model of a name in a usage, which may be an alias and have parameters; None without one model."""
    return (tables.meant(name) or tables.meant(plain_name(tables, name))) if name else None


def family_of(tables: Tables, name: str | None) -> str:
    """Return the family of the model of a name in a usage; empty without one."""
    model = model_named(tables, name)
    return tables.families.get(model.model, "") if model else ""


def split_model(name: str) -> tuple[str, Suffix]:
    """Split a model's name into the model and the parameters of its suffix `:<parameter>=<value>`.

    Parameters are joined by `&` or `:`. A `:` begins a parameter if `=` follows; else it is part of the name or value
    before it. Split only names that no model has.

    >>> split_model("zai-org-glm-5-2:enable_web_search=on&disable_thinking=true")
    ('zai-org-glm-5-2', (('enable_web_search', 'on'), ('disable_thinking', True)))
    >>> split_model("zai-org-glm-5-2:enable_web_search=on:character_slug=alan:turing")
    ('zai-org-glm-5-2', (('enable_web_search', 'on'), ('character_slug', 'alan:turing')))
    """
    model, *parts = _PARAMETER.split(name)
    if not parts:  # the text after the first `:` is refused by its name
        model, _, suffix = name.partition(":")
        parts = [suffix]
    parameters = list[tuple[str, Any]]()
    for part in filter(None, "&".join(parts).split("&")):
        parameter, stated, value = part.partition("=")
        expected = PARAMETERS.get(parameter)
        if expected is None and not stated:
            parameters.append((parameter, None))
        else:
            parameters.append((parameter, _BOOLEANS.get(value, value) if isinstance(expected, Boolean) else value))
    return model, tuple(parameters)


class Parameters(NamedTuple):
    """The known parameters of a request, and the names of others, which the API passes through unread."""

    known: Mapping[str, Any]
    others: tuple[str, ...]

    def idle(self, supported: Collection[str]) -> list[str]:
        """Return the switches of unsupported searches that are not off: they have no effect."""
        switches = (switch for kind, (_, switch) in SEARCHES.items() if kind not in supported)
        return [name for name in switches if self.known.get(name) not in (None, "off", "false")]

    def without_effect(self, supported: Collection[str]) -> tuple[str, ...]:
        """Return the paths of the parameters without effect on a price."""
        switches, idle = {switch for _, switch in SEARCHES.values()}, self.idle(supported)
        known = (name for name in self.known if name not in switches or name in idle)
        return tuple(f"service_parameters.{name}" for name in (*known, *self.others))


NO_PARAMETERS = Parameters({}, ())


def read_parameters(given: object, suffix: Suffix, problems: Problems) -> Parameters:
    """Read the parameters of a request; those of the body win over the suffix of the model's name.

    An unknown name is not a problem, because the API passes it through; at most 20 of them are listed, as they are. A
    name that the suffix gives twice is a problem, known or not, because nothing says which of the two counts.
    """
    in_body = mapping_of(given)
    if in_body is None:
        problems.append((("service_parameters",), wrong_type("object", given)))
        in_body = {}
    in_name = dict(suffix)
    for name in [name for name, value in in_name.items() if value is None][:MOST_PROBLEMS]:
        near = did_you_mean(name, PARAMETERS)
        problems.append((("model",), f"Unrecognized parameter in the model name: '{echo(name)}'.{near}"))
    counts = Counter(name for name, value in suffix if value is not None)
    for name in [name for name, count in counts.items() if count > 1][:MOST_PROBLEMS]:
        problems.append((("model",), f"Parameter given twice in the model name: '{echo(name)}'. Give it once"))
    parameters: dict[str, Any] = {}
    wrong = field_problems({**in_name, **in_body}, PARAMETERS, parameters)
    problems += [(("service_parameters", *path), message) for path, message in wrong]
    return Parameters(parameters, field_names(name for name in {**in_name, **in_body} if name not in PARAMETERS))


def billed_searches(counts: Mapping[str, int], parameters: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of searches of each kind that a request is billed for.

    X search and scraping replace the standard web search. A search that is switched off is not billed; `on` bills one
    search if none was counted; `auto` bills the searches that were counted.
    """
    billed = {}
    for kind, (field, parameter) in SEARCHES.items():
        switched = parameters.get(parameter)
        least = 1 if switched == "on" and field not in counts else 0
        billed[kind] = 0 if switched in ("off", "false") else max(counts.get(field, 0), least)
    if billed["x_search"] or parameters.get("enable_x_search") == "true" or billed["web_scraping"]:
        billed["web_search"] = 0
    return {kind: count for kind, count in billed.items() if count}
