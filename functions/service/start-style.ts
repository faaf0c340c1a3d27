import { pagePalette } from '../../shared/drawing/page-palette.ts';

/** The style of the start page: one column, light and dark by the reader's preference. */
export const startStyle = `
${pagePalette}* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 44rem; padding: 3rem 1.25rem; color: var(--text); background: var(--page);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
dl { margin: 0; border-top: 1px solid var(--line); }
dl div { padding: .65rem 0; border-bottom: 1px solid var(--line); }
dt { font-weight: 600; }
dd { margin: 0; color: var(--soft); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .875em; }
pre { margin: 0; padding: .85rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px; overflow: auto; }
`;
