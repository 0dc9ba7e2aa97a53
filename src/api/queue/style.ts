/** The one stylesheet of the pages. A table becomes cards on a narrow screen; colours follow the reader's scheme. */
export const STYLE = `:root {
  color-scheme: light dark;
  --text: #1b1f24; --quiet: #4d5661; --paper: #fff; --band: #f1f3f6; --line: #c9d0d8;
  --link: #0a4ea3; --button: #0a4ea3; --on-button: #fff; --alarm: #9b1c1c; --alarm-band: #fdecec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8ebef; --quiet: #b3bcc7; --paper: #14171b; --band: #20252b; --line: #444d58;
    --link: #9cc4ff; --button: #9cc4ff; --on-button: #10141a; --alarm: #ffb3b3; --alarm-band: #3b1d1f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--paper); }
header, main, footer { max-width: 90rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { border-bottom: 1px solid var(--line); }
header a { margin-right: 1rem; display: inline-block; padding: 0.4rem 0; }
footer { color: var(--quiet); }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 1.75rem 0 0.5rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.25rem; background: var(--paper); padding: 0.5rem; }
form.filters { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: end; }
label { display: block; font-weight: 600; }
input, select, textarea, button, .button {
  font: inherit; color: inherit; background: var(--paper); min-height: 2.75rem; max-width: 100%;
  padding: 0.4rem 0.7rem; border: 1px solid var(--quiet); border-radius: 0.3rem;
}
textarea { width: 40rem; min-height: 5rem; }
button, .button {
  display: inline-flex; align-items: center; background: var(--button); color: var(--on-button); border-color: var(--button);
  text-decoration: none; font-weight: 600; cursor: pointer;
}
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.quiet { color: var(--quiet); }
.alarm { color: var(--alarm); background: var(--alarm-band); border-left: 4px solid var(--alarm); padding: 0.4rem 0.7rem; }
.notice { background: var(--band); border-left: 4px solid var(--link); padding: 0.4rem 0.7rem; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
td:first-child { overflow-wrap: anywhere; min-width: 6rem; }
thead th { background: var(--band); }
th, td, dd { font-variant-numeric: tabular-nums; }
ol.timeline { padding-left: 1.25rem; }
ol.timeline li { margin-bottom: 0.35rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 60rem) {
  thead { position: absolute; left: -100rem; }
  table, tbody, tr, th, td { display: block; }
  tr { border: 1px solid var(--line); border-radius: 0.3rem; margin-bottom: 0.75rem; }
  th, td { border: 0; padding: 0.2rem 0.7rem; }
  td::before { content: attr(data-label) ": "; font-weight: 600; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: 0.5rem; }
}
`;
