"""How the page of a simulation looks: on a wide screen, on a phone, on paper, by day and by night."""

STYLE = """
:root { --ink: #1c2430; --quiet: #5b6675; --paper: #ffffff; --card: #f5f6f8; --edge: #dde1e7; --warn: #8a5a00;
  --warned: #fff6e0; --rise: #1c62a8; --fall: #b4460f; --lost: #8c1d5f; --new: #1d6b3a; --line: #1c62a8;
  --second: #b4460f; --third: #2b7a3d; --fourth: #7a3fa0; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #a3adba; --paper: #14181e; --card: #1d232b;
  --edge: #343c47; --warn: #ffcf70; --warned: #2d2614; --rise: #74b3f5; --fall: #ff9a5c; --lost: #f58cc4;
  --new: #6fcf86; --line: #74b3f5; --second: #ff9a5c; --third: #6fcf86; --fourth: #c79bea; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 88rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.kicker { color: var(--quiet); margin: 0 0 .25rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; max-width: 46rem; text-wrap: balance; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .25rem; }
.quiet, th { color: var(--quiet); }
p { margin: .25rem 0; max-width: 46rem; }
.warning { background: var(--warned); border-left: .3rem solid var(--warn); border-radius: .35rem; padding: .75rem 1rem;
  margin-bottom: 1.5rem; }
.warning .scroll { max-height: 14rem; margin-bottom: 0; background: var(--paper); }
.warning h2 { margin: 0; font-size: 1.05rem; color: var(--warn); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; padding: 0;
  margin: 1.25rem 0; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; padding: .6rem .8rem;
  color: var(--quiet); font-size: .9rem; line-height: 1.3; }
.tiles b { display: block; color: var(--ink); font-size: 1.4rem; font-variant-numeric: tabular-nums; }
.rise, .tiles b.rise { color: var(--rise); } .fall, .tiles b.fall { color: var(--fall); }
.lost { color: var(--lost); } .new { color: var(--new); }
.signs { display: flex; flex-wrap: wrap; gap: 0 1.25rem; font-size: .9rem; max-width: none; margin-top: 1rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0 2rem; }
.charts > * { min-width: 0; }
.chart { width: 100%; }
.scroll { overflow: auto; max-height: 34rem; margin: .5rem 0 1rem; border: 1px solid var(--edge);
  border-radius: .5rem; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .9rem; overflow-wrap: normal; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--edge); vertical-align: top; }
/* Headings and names break where they must, so that no table is wider than a screen; numbers never do. */
td:not(.number) { overflow-wrap: anywhere; min-width: 8rem; }
td:first-child:not(.number) { min-width: 10rem; }
th { overflow-wrap: anywhere; min-width: 4.5rem; vertical-align: bottom; }
tbody tr:last-child td, tfoot td { border-bottom: 0; }
thead th { position: sticky; top: 0; background: var(--card); font-weight: 500; z-index: 1; }
tfoot td { position: sticky; bottom: 0; background: var(--card); font-weight: 600; border-top: 1px solid var(--edge); }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid var(--line); outline-offset: 2px; }
th[aria-sort] button::after { content: "\\00a0\\2195"; opacity: .45; }
th[aria-sort=ascending] button::after { content: "\\00a0\\2191"; opacity: 1; }
th[aria-sort=descending] button::after { content: "\\00a0\\2193"; opacity: 1; }
.number { text-align: right; font-variant-numeric: tabular-nums; min-width: 0; }
td.number { white-space: nowrap; }
th.number { min-width: 6.6rem; }
.dense { font-size: .8rem; } .dense th, .dense td { padding: .35rem .4rem; } .dense th.number { min-width: 5.6rem; }
details { border: 1px solid var(--edge); border-radius: .5rem; margin: .75rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; background: var(--card); border-radius: .5rem; font-weight: 600; }
details > :not(summary) { margin-left: .8rem; margin-right: .8rem; }
@media (max-width: 44rem) {
  body { padding: 1.25rem .9rem 3rem; }
  h1 { font-size: 1.35rem; }
  .tiles { grid-template-columns: 1fr 1fr; gap: .5rem; } .tiles b { font-size: 1.15rem; }
  th:first-child:not(.number), td:first-child:not(.number) { position: sticky; left: 0; min-width: 7rem; }
  tbody td:first-child:not(.number) { background: var(--paper); } thead th:first-child:not(.number) { z-index: 2; }
  table, .dense { font-size: .82rem; } th.number { min-width: 5.8rem; } th, td { padding: .3rem .5rem; }
}
@media print { body { max-width: none; padding: 0; } .scroll { max-height: none; overflow: visible; } }
"""
