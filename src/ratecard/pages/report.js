// The page counts as loaded once its charts are drawn: who prints it without a window waits for that, and for no more.
const pending = document.createElement("iframe");
pending.hidden = true;
document.body.append(pending);
pending.contentDocument.open();

const coloured = value => Array.isArray(value) ? value.map(coloured)
  : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v)]))
  : typeof value === "string" && value.startsWith("var(")
    ? getComputedStyle(document.documentElement).getPropertyValue(value.slice(4, -1)).trim() : value;

function draw(width) {
  for (const place of document.querySelectorAll(".chart")) {
    const {data, layout} = JSON.parse(document.getElementById(place.dataset.figure).textContent);
    // On a phone there is no room for amounts beside the bars.
    if (innerWidth < 700) for (const each of data) if (each.orientation === "h") each.textposition = "none";
    const axis = {gridcolor: "var(--edge)", linecolor: "var(--edge)", fixedrange: true, automargin: true};
    const whole = {paper_bgcolor: "transparent", plot_bgcolor: "transparent", margin: {l: 8, r: 24, t: 24, b: 8},
      font: {family: "system-ui, sans-serif", size: 12, color: "var(--ink)"}, showlegend: data.length > 1,
      hoverlabel: {bgcolor: "var(--card)", bordercolor: "var(--edge)", font: {color: "var(--ink)"}, namelength: -1},
      separators: document.body.dataset.separators, height: +place.dataset.height, width, bargap: 0.3,
      legend: {orientation: "h", x: 0, y: 1.15}, ...layout,
      xaxis: {...axis, ...layout.xaxis}, yaxis: {...axis, ...layout.yaxis}};
    Plotly.react(place, coloured(data), coloured(whole), {displayModeBar: false, responsive: true});
  }
}

function sort(button) {
  const head = button.closest("th"), column = head.cellIndex, body = head.closest("table").tBodies[0];
  const down = head.getAttribute("aria-sort") === "descending";
  for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", down ? "ascending" : "descending");
  const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const number = head.classList.contains("number");
  const compare = (a, b) => number ? (+value(a) || 0) - (+value(b) || 0) : value(a).localeCompare(value(b));
  body.append(...[...body.rows].sort((a, b) => (down ? 1 : -1) * compare(a, b)));
}

document.addEventListener("click", event => {
  const button = event.target.closest("th button");
  if (button) sort(button);
});
const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), each => each.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const library = document.createElement("script");
library.textContent = await new Response(unpacked).text();
document.head.append(library);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
// On paper a chart is as wide as the sheet, less its margins.
addEventListener("beforeprint", () => draw(680));
addEventListener("afterprint", () => draw());
draw();
pending.contentDocument.close();
pending.remove();
