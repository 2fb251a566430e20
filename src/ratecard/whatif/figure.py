"""A chart of the report as the page draws it: in colours that can be read by day and by night."""

from typing import Any, NamedTuple

from ratecard.simulation.report.charts import Chart
from ratecard.simulation.report.figures import Figures

# The names of the report's colours. A figure is drawn on the server's word, which does not know whether it is night.
_COLOURS = {
    "var(--ink)": "#76808d",
    "var(--quiet)": "#8a939f",
    "var(--edge)": "rgba(128, 138, 150, 0.25)",
    "var(--rise)": "#3b86d1",
    "var(--fall)": "#d0642a",
    "var(--lost)": "#c2508f",
    "var(--new)": "#3d9a5b",
    "var(--line)": "#3b86d1",
}


class Plot(NamedTuple):
    """A chart as Plotly's figure, what it says, and its height in pixels."""

    title: str
    note: str
    height: int
    figure: dict[str, Any]


def plot(chart: Chart, figures: Figures) -> Plot:
    """The figure of a chart."""
    axis = {"gridcolor": "var(--edge)", "linecolor": "var(--edge)", "fixedrange": True, "automargin": True}
    layout = {
        "paper_bgcolor": "transparent",
        "plot_bgcolor": "transparent",
        "margin": {"l": 8, "r": 24, "t": 24, "b": 8},
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "var(--ink)"},
        "showlegend": len(chart.data) > 1,
        "separators": figures.separators,
        **chart.layout,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        **{name: {**axis, **chart.layout.get(name, {})} for name in ("xaxis", "yaxis")},
    }
    figure = {"data": chart.data, "layout": layout, "config": {"displayModeBar": False}}
    return Plot(chart.title, chart.note, chart.height, _coloured(figure))


def _coloured(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _coloured(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_coloured(part) for part in value]
    return _COLOURS.get(value, value) if isinstance(value, str) else value
