"""How the page of a comparison looks: on a wide screen, on a phone, on paper, by day and by night."""

STYLE = """
:root { --ink: #1c2430; --quiet: #5b6675; --paper: #ffffff; --card: #f5f6f8; --edge: #dde1e7;
  --rise: #b4460f; --fall: #1c62a8; --add: #2b7a3d; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #a3adba; --paper: #14181e; --card: #1d232b;
  --edge: #343c47; --rise: #ff9a5c; --fall: #74b3f5; --add: #6fcf86; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
.quiet, small, th { color: var(--quiet); }
small { display: block; font-size: .8rem; }
code { font-size: .85rem; }
.rise { color: var(--rise); fill: var(--rise); } .fall { color: var(--fall); fill: var(--fall); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; padding: 0;
  margin: 1.5rem 0 .75rem; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; padding: .6rem .8rem;
  color: var(--quiet); font-size: .9rem; line-height: 1.3; }
.tiles.worst { grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); margin-top: .75rem; }
.tiles b { display: block; color: var(--ink); font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.tiles b.rise { color: var(--rise); } .tiles b.fall { color: var(--fall); }
.bars { list-style: none; margin: 0; padding: 0; }
.bars li { display: grid; grid-template-columns: minmax(10rem, 20rem) 1fr 8rem; gap: 1rem; align-items: center;
  padding: .3rem 0; border-top: 1px solid var(--edge); }
.bars svg { width: 100%; height: 1.1rem; display: block; }
.bars line { stroke: var(--quiet); stroke-width: 1; vector-effect: non-scaling-stroke; }
.by { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap; }
details { border: 1px solid var(--edge); border-radius: .5rem; margin: .6rem 0; }
summary { cursor: pointer; padding: .6rem .8rem; background: var(--card); border-radius: .5rem; }
.part { display: inline-block; }
summary b { margin-right: .5rem; }
details > div { padding: .25rem .8rem .8rem; }
table { border-collapse: collapse; width: 100%; margin-top: .5rem; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
th { font-weight: 500; font-size: .85rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.sign { display: inline-block; width: 1.1em; text-align: center; font-weight: 700; margin-right: .35rem; }
.changed { color: var(--rise); } .added { color: var(--add); } .removed, .retired { color: var(--fall); }
@media (max-width: 44rem) {
  body { padding: 1.25rem .9rem 3rem; }
  h1 { font-size: 1.4rem; }
  .tiles { grid-template-columns: 1fr 1fr; } .tiles.worst { grid-template-columns: 1fr; }
  .bars li { grid-template-columns: 1fr auto; gap: .1rem .75rem; }
  .bars svg { grid-column: 1 / -1; grid-row: 2; }
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--edge); }
  td { display: flex; gap: 1rem; justify-content: space-between; border: 0; padding: .12rem 0; text-align: right; }
  td::before { content: attr(data-label); color: var(--quiet); flex: none; }
  td:first-child { font-weight: 600; text-align: left; } td:first-child::before { content: none; }
  td:empty { display: none; }
}
@media print { body { max-width: none; padding: 0; } details { break-inside: avoid; } }
"""
