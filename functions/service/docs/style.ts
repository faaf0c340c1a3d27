import { pagePalette } from '../../../shared/drawing/page-palette.ts';

/** The page's style: system fonts, light and dark by the reader's preference, one column on narrow screens. */
export const style = `
${pagePalette}:root {
  --get: var(--good); --post: var(--accent); --put: var(--warn); --patch: var(--special); --delete: var(--bad);
  --head: 3.5rem;
}
* { box-sizing: border-box; scrollbar-width: thin; scrollbar-color: var(--line) transparent; }
html { scroll-padding-top: calc(var(--head) + 1rem); -webkit-text-size-adjust: 100%; }
body {
  margin: 0; color: var(--text); background: var(--page);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em; }
p code, .note code, li code { background: var(--code); border-radius: 4px; padding: .1em .3em; overflow-wrap: anywhere; }
pre {
  margin: 0; padding: .85rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px;
  overflow: auto; max-height: 26rem; line-height: 1.5; font-size: .8125rem;
}
pre code { font-size: inherit; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.01em; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 .25rem; letter-spacing: -.01em; }
h3 { font-size: 1.125rem; margin: 0 0 .35rem; }
article h2, .kind h2 { font-size: 1.125rem; margin: 0 0 .35rem; }
article h3, .sample-title { font-size: .75rem; margin: 1.25rem 0 .4rem; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; }
p { margin: 0 0 .75rem; max-width: 70ch; }
[hidden] { display: none !important; }
.hidden, .skip:not(:focus) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip:focus { position: fixed; z-index: 3; top: .5rem; left: .5rem; padding: .5rem .75rem; background: var(--page); }

header {
  position: sticky; top: 0; z-index: 2; height: var(--head); display: flex; align-items: center; gap: 1rem;
  padding: 0 1.5rem; background: var(--page); border-bottom: 1px solid var(--line);
}
.brand { margin: 0; font-weight: 650; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; min-width: 0; }
.brand a { color: inherit; text-decoration: none; }
.brand span { color: var(--soft); font-weight: 400; font-size: .875rem; margin-left: .35rem; }
search { margin-left: auto; flex: 0 1 22rem; min-width: 8rem; }
input, button { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
input { width: 100%; padding: .4rem .75rem; }
input::placeholder { color: var(--soft); opacity: 1; }
button { padding: .4rem .75rem; cursor: pointer; display: none; }
button[aria-expanded="true"] { background: var(--mark); border-color: var(--accent); }

.frame { display: grid; grid-template-columns: 18rem minmax(0, 1fr); max-width: 96rem; margin: 0 auto; }
#contents {
  position: sticky; top: var(--head); height: calc(100vh - var(--head)); overflow-y: auto; overscroll-behavior: contain;
  padding: 1.25rem .75rem 3rem 1.5rem; border-right: 1px solid var(--line); font-size: .875rem;
}
nav h2 { font-size: .875rem; margin: .15rem 0; font-weight: 600; }
nav h2 a { display: block; color: var(--text); text-decoration: none; padding: .2rem .5rem; border-radius: 6px; }
nav h2 a:hover, nav h2 a[aria-current] { background: var(--mark); }
.console { white-space: nowrap; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a {
  display: flex; gap: .5rem; align-items: baseline; padding: .25rem .5rem; border-radius: 6px; color: var(--text);
  text-decoration: none; line-height: 1.35;
}
nav li a:hover { background: var(--panel); }
nav li a[aria-current] { background: var(--mark); }
nav .method { flex: 0 0 2.9rem; font-size: .625rem; }

main { padding: 2rem 2rem 6rem; min-width: 0; }
main > section { margin-bottom: 3.5rem; }
.lead { color: var(--soft); margin-bottom: 1.25rem; }
#found:not(:empty) { color: var(--soft); }
article { padding: 1.75rem 0; border-top: 1px solid var(--line); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 2rem; }
.columns > div { min-width: 0; }
.columns > div > h3:first-child { margin-top: 0; }
.samples .copied + h3 { margin-top: 1rem; }
.step { padding: 1.5rem 0 0; border-top: 1px solid var(--line); margin-bottom: 2rem; }
.copied { position: relative; }
.copied button { display: block; position: absolute; top: .4rem; right: .4rem; padding: .15rem .6rem; font-size: .75rem; }
.turns { position: static; height: auto; display: flex; justify-content: space-between; gap: 1rem; padding: 1.5rem 0 0; border: 0; border-top: 1px solid var(--line); font-size: 1rem; overflow: visible; }
.anchor { color: inherit; text-decoration: none; }
.anchor:hover { text-decoration: underline; }
.route { margin: 0 0 1rem; max-width: none; }
.route code { font-size: .9375rem; background: none; padding: 0 0 0 .25rem; overflow-wrap: anywhere; }
.method {
  display: inline-block; font: 700 .75rem/1 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: .02em;
}
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); }
.delete { color: var(--delete); }
.route .method { border: 1px solid currentColor; border-radius: 5px; padding: .25rem .4rem; }

.fields { list-style: none; margin: 0; padding: 0; }
.fields li { padding: .45rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.fields > li:first-child { border-top: 0; }
.fields .fields { margin: .35rem 0 .1rem; padding-left: .85rem; border-left: 2px solid var(--line); }
code.name { font-weight: 650; background: none; padding: 0; }
.type, .fields em { color: var(--soft); font-size: .875rem; }
.required { color: var(--delete); font-size: .75rem; font-weight: 600; }
.note { display: block; color: var(--soft); font-size: .875rem; }
.bare { margin: 0; font-size: .9375rem; }
details > summary { cursor: pointer; font-size: .9375rem; }
.fields details > summary { font-size: .875rem; color: var(--accent); width: max-content; }
.schema[open] > .fields { margin-top: .4rem; padding: .1rem .85rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.answer { display: grid; grid-template-columns: 3rem minmax(0, 1fr); align-items: baseline; margin: .3rem 0; }
.status { font: 700 .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--get); }
.status.bad { color: var(--delete); }
.problems { margin-top: .5rem; }
.problems summary { color: var(--soft); font-size: .875rem; }
.problems ul { list-style: none; margin: .4rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem; }
.problems a { display: block; padding: .15rem .5rem; border: 1px solid var(--line); border-radius: 6px; font-size: .8125rem; text-decoration: none; }
.kind { padding: 1rem 0 .25rem; border-top: 1px solid var(--line); }
.kind:first-of-type { margin-top: 1.5rem; }
.kind h2 code { color: var(--soft); font-weight: 400; }
.kind:target, article:target { box-shadow: -.75rem 0 0 var(--page), calc(-.75rem - 3px) 0 0 var(--accent); }

@media (max-width: 76rem) { .columns { grid-template-columns: minmax(0, 1fr); gap: .5rem; } }
@media (max-width: 60rem) {
  header { padding: 0 1rem; gap: .75rem; }
  header button { display: block; }
  .brand span { display: none; }
  .frame { display: block; }
  #contents {
    display: none; position: fixed; z-index: 1; inset: var(--head) 0 0; height: auto; background: var(--page); border: 0;
    padding: .5rem 1rem 3rem;
  }
  #contents.open { display: block; }
  nav li a { padding: .55rem .5rem; }
  main { padding: 1.5rem 1rem 4rem; }
}
@media (max-width: 34rem) {
  .brand { display: none; }
  search { flex: 1 1 auto; margin: 0; }
}
@media print { header, nav, .copied button { display: none; } .frame, .columns { display: block; } }
`;
