"""Read the `service_parameters` of a text request (in its body, or its model's name), and the searches to bill."""

import re
from collections.abc import Mapping
from typing import Any, get_args

from ratecard.base.messages import Problems, echo, wrong_type
from ratecard.base.suggestions import did_you_mean
from ratecard.requests.body import MOST_PROBLEMS, mapping_of
from ratecard.requests.fields import Boolean, Choice, Field, TextField, field_problems
from ratecard.requests.metered import unrecognized
from ratecard.requests.usage import ServiceParameters
from ratecard.tables.card import Tables


def _field_of(annotation: Any) -> Field:
    """The check of a parameter that has this type, or is left out."""
    type_ = get_args(annotation)[0]
    if words := get_args(type_):
        return Choice(words)
    return Boolean() if type_ is bool else TextField()


# By their names, which are rules of this service's API; `service_parameters` in vocabulary.yaml says who has them.
PARAMETERS = {name: _field_of(field.annotation) for name, field in ServiceParameters.model_fields.items()}
# By kind of search: the field that counts it, and the parameter that switches it.
SEARCHES = {
    "web_search": ("web_search_requests", "enable_web_search"),
    "web_scraping": ("scraped_urls", "enable_web_scraping"),
    "x_search": ("x_search_results", "enable_x_search"),
}
_BOOLEANS = {"true": True, "false": False}
# The `:` before a parameter with its value.
_PARAMETER = re.compile(":(?=[^:&=]*=)")


def split_name(name: str) -> tuple[str, str]:
    """Split a model's name before the `:` that begins its parameters; a `:` without a `=` after it is part of the name.

    >>> split_name("llama3:8b:enable_web_search=on"), split_name("llama3:8b")
    (('llama3:8b', ':enable_web_search=on'), ('llama3:8b', ''))
    """
    found = _PARAMETER.search(name)
    return (name, "") if found is None else (name[: found.start()], name[found.start() :])


def plain_name(tables: Tables, name: str) -> str:
    """The name of a model without the parameters that may follow it in a text request."""
    if name in tables.models or name in tables.aliases or not tables.vocabulary.service_parameters:
        return name
    plain, suffix = split_name(name)
    before = name.partition(":")[0]
    # A parameter without a value is refused by its name.
    if not suffix and before in tables.models and tables.named(name) is None:
        return before
    return plain


def split_model(name: str) -> tuple[str, dict[str, Any]]:
    """Split a model's name into the model and the parameters of its suffix `:<parameter>=<value>`.

    Parameters are joined by `&` or `:`. A `:` begins a parameter if `=` follows; else it is part of the name or value
    before it. Only a name that no model has is split.

    >>> split_model("zai-org-glm-5-2:enable_web_search=on&disable_thinking=true")
    ('zai-org-glm-5-2', {'enable_web_search': 'on', 'disable_thinking': True})
    >>> split_model("zai-org-glm-5-2:enable_web_search=on:character_slug=alan:turing")
    ('zai-org-glm-5-2', {'enable_web_search': 'on', 'character_slug': 'alan:turing'})
    """
    model, *parts = _PARAMETER.split(name)
    if not parts:  # no parameter: what follows the first `:` becomes one, so that it is refused by name
        model, _, suffix = name.partition(":")
        parts = [suffix]
    parameters: dict[str, Any] = {}
    for part in filter(None, "&".join(parts).split("&")):
        parameter, _, value = part.partition("=")
        expected = PARAMETERS.get(parameter)
        parameters[parameter] = _BOOLEANS.get(value, value) if isinstance(expected, Boolean) else value
    return model, parameters


def read_parameters(given: object, suffix: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """Read the parameters of a request; those of the body win over the suffix of the model's name."""
    own = mapping_of(given)
    if own is None:
        problems.append((("service_parameters",), wrong_type("object", given)))
        own = {}
    problems += unrecognized(own, PARAMETERS.keys(), ("service_parameters",))
    for name in [name for name in suffix if name not in PARAMETERS][:MOST_PROBLEMS]:
        near = did_you_mean(name, PARAMETERS)
        problems.append((("model",), f"Unrecognized parameter in the model name: '{echo(name)}'.{near}"))
    parameters: dict[str, Any] = {}
    wrong = field_problems({**suffix, **own}, PARAMETERS, parameters)
    problems += [(("service_parameters", *path), message) for path, message in wrong]
    return parameters


def billed_searches(counts: Mapping[str, int], parameters: Mapping[str, Any]) -> dict[str, int]:
    """The number of searches of each kind that a request is billed for.

    X search and scraping replace the standard web search. A search that is switched off is not billed; with `on`, one
    is billed if none was counted; `auto` bills what was counted.
    """
    billed = {}
    for kind, (field, parameter) in SEARCHES.items():
        switched = parameters.get(parameter)
        least = 1 if switched == "on" and field not in counts else 0
        billed[kind] = 0 if switched in ("off", "false") else max(counts.get(field, 0), least)
    if billed["x_search"] or parameters.get("enable_x_search") == "true" or billed["web_scraping"]:
        billed["web_search"] = 0
    return {kind: count for kind, count in billed.items() if count}
