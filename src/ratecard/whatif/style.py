"""How the page looks: on a wide screen and on a phone, by day and by night."""

STYLE = """
:root { --ink: #1c2430; --quiet: #5b6675; --paper: #ffffff; --card: #f5f6f8; --edge: #dde1e7; --warn: #8a5a00;
  --warned: #fff6e0; --rise: #1c62a8; --fall: #b4460f; --lost: #8c1d5f; --new: #1d6b3a;
  --wrong: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --quiet: #a3adba; --paper: #14181e; --card: #1d232b;
  --edge: #343c47; --warn: #ffcf70; --warned: #2d2614; --rise: #74b3f5; --fall: #ff9a5c; --lost: #f58cc4;
  --new: #6fcf86; --wrong: #ff8f87; } }
body, body.body--dark { background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
.nicegui-content { padding: 0; gap: 0; display: block; }
.top { display: flex; gap: .75rem; align-items: baseline; padding: .7rem 1.5rem; border-bottom: 1px solid var(--edge); }
.top strong { font-size: 1.05rem; }
.desk { display: grid; grid-template-columns: 23rem minmax(0, 1fr); align-items: start; width: 100%;
  max-width: 90rem; }
aside { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1.25rem 1.5rem 2rem;
  border-right: 1px solid var(--edge); min-height: calc(100vh - 3.2rem); display: grid; gap: 1rem;
  grid-template-columns: minmax(0, 1fr); align-content: start; }
.quiet { color: var(--quiet); font-size: .85rem; line-height: 1.45; }
.day { display: grid; gap: .4rem; }
.changes, .change .body { display: grid; grid-template-columns: minmax(0, 1fr); gap: .7rem; }
.change { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; padding: .5rem .8rem .8rem; }
.change header { display: flex; justify-content: space-between; align-items: center; font-weight: 600;
  margin-right: -.4rem; }
.factor { display: grid; grid-template-columns: 1fr 7rem; gap: 1rem; align-items: center; padding-left: .4rem; }
.factor input { text-align: right; font-variant-numeric: tabular-nums; }
.wrong { color: var(--wrong); font-size: .85rem; line-height: 1.4; overflow-wrap: anywhere; }
.wrong:not(:empty) { margin-top: .5rem; } .wrong::first-letter { text-transform: uppercase; }
.q-select .q-field__native > span { white-space: normal; }
.add, .files { display: flex; flex-wrap: wrap; gap: .25rem .5rem; }
.found { display: grid; grid-template-columns: minmax(0, 1fr); max-height: 14rem; overflow: auto; }
.read { margin-top: -.35rem; } .read:empty { display: none; }
pre.kept { margin: 0; overflow-x: auto; font-size: .75rem; line-height: 1.45; max-height: 12rem; }
.busy { position: sticky; top: 0; z-index: 2; background: var(--paper); margin: 0 0 .6rem; }
.save { width: 100%; }
.answers { padding: 1.5rem 2rem 3rem; min-width: 0; transition: opacity .15s; }
.answers.old > :not(.warning) { opacity: .45; }
h1 { font-size: 1.55rem; line-height: 1.3; font-weight: 600; letter-spacing: 0; margin: 0 0 .35rem; max-width: 52rem;
  text-wrap: balance; }
h2 { font-size: 1.05rem; line-height: 1.4; font-weight: 600; letter-spacing: 0; margin: 0 0 .4rem; }
.warning { background: var(--warned); color: var(--ink); border-left: .25rem solid var(--warn); border-radius: .3rem;
  padding: .55rem .8rem; margin: .8rem 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.2rem, 1fr)); gap: .7rem; padding: 0;
  margin: 1.1rem 0; list-style: none; }
.tiles li { background: var(--card); border: 1px solid var(--edge); border-radius: .5rem; padding: .55rem .8rem;
  color: var(--quiet); font-size: .85rem; line-height: 1.35; }
.tiles b { display: block; color: var(--ink); font-size: 1.15rem; line-height: 1.5; font-weight: 600;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tiles b.rise, td.rise { color: var(--rise); } .tiles b.fall, td.fall { color: var(--fall); }
td.lost { color: var(--lost); } td.new { color: var(--new); }
.notes p { margin: 0 0 .25rem; max-width: 60rem; }
.part { margin-top: 1.9rem; min-width: 0; }
.q-expansion-item .q-item { padding: .4rem 0; font-weight: 600; font-size: 1.05rem; }
.q-expansion-item__content { padding: 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
.losers table, .winners table, .models table, .largest table, .payers table { table-layout: fixed; }
th:first-child { width: 34%; } .unpriced th:first-child { width: 4rem; } .unpriced td:first-child { text-align: right; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--edge);
  vertical-align: top; }
th { font-weight: 500; color: var(--quiet); }
th:last-child, td:last-child { padding-right: 0; }
tfoot td { font-weight: 600; border-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:not(.number) { overflow-wrap: anywhere; }
.part .unpriced { width: 100%; }
.time { margin-top: 1.5rem; font-variant-numeric: tabular-nums; }
.q-dialog__inner > .dialog { background: var(--paper); color: var(--ink); width: 38rem; max-width: 100%;
  padding: 1.25rem; display: grid; gap: .7rem; border-radius: .6rem; }
.dialog pre { background: var(--card); border: 1px solid var(--edge); border-radius: .4rem; padding: .7rem .8rem;
  margin: 0; max-height: 18rem; overflow: auto; font-size: .8rem; line-height: 1.5; }
.dialog footer { display: flex; justify-content: flex-end; gap: .5rem; }
.done { font-size: .9rem; } .done:empty { display: none; }
.done code { display: block; margin-top: .3rem; padding: .5rem .7rem; background: var(--card); border-radius: .4rem;
  font-size: .78rem; overflow-wrap: anywhere; user-select: all; }
@media (max-width: 56rem) {
  .desk { grid-template-columns: minmax(0, 1fr); }
  aside { position: static; max-height: none; min-height: 0; border-right: 0; border-bottom: 1px solid var(--edge); }
  .top, aside { padding-left: 1rem; padding-right: 1rem; }
  .answers { padding: 1.25rem 1rem 2.5rem; }
  h1 { font-size: 1.25rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  table { font-size: .78rem; } th, td { padding-right: .4rem; }
  th:first-child { width: 31%; } th:last-child { width: 17%; }
  .losers tr > :nth-child(3), .winners tr > :nth-child(3), .models tr > :nth-child(3),
  .unpriced tr > :nth-child(n + 4) { display: none; }
}
"""
