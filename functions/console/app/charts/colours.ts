import { signal } from '@preact/signals';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** Grows when the colours of the page change, so that canvases are drawn again. */
export const schemeChanges = signal(0);
dark.addEventListener('change', () => {
  schemeChanges.value += 1;
});

/** A colour of the page as it is at present, for a canvas. */
export const cssColour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const lineCount = 10;

/** Name of the colour of a line: ten that differ, then again from the first, dashed. */
export const lineColour = (index: number): string => `line-${(index % lineCount) + 1}`;
export const lineDash = (index: number): number[] | undefined =>
  index < lineCount ? undefined : index < 2 * lineCount ? [6, 4] : [2, 3];
