import { signal } from '@preact/signals';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Number of changes of the colour scheme. Canvases redraw when it grows. */
export const schemeChanges = signal(0);
dark.addEventListener('change', () => {
  schemeChanges.value += 1;
});

/** Return a current colour of the page, for a canvas. */
export const cssColour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const lineCount = 10;

/** Return the colour name of a line. There are ten colours. Further lines repeat them, dashed. */
export const lineColour = (index: number): string => `line-${(index % lineCount) + 1}`;
export const lineDash = (index: number): number[] | undefined =>
  index < lineCount ? undefined : index < 2 * lineCount ? [6, 4] : [2, 3];
