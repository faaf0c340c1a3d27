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

/** Number of colours of lines. A style above it has the colour of the rest, dashed. */
export const lineCount = 5;
const dashes: readonly (number[] | undefined)[] = [undefined, [7, 4], [2, 3], [10, 4, 2, 4], [14, 5]];

/**
 * Return the colour name of a line. There are five colours, which people tell apart who do not see red or green. Further
 * lines repeat them, dashed.
 */
export const lineColour = (index: number): string => `line-${(index % lineCount) + 1}`;
export const lineDash = (index: number): number[] | undefined =>
  dashes[Math.floor(index / lineCount) % dashes.length];

const key = 'mps-colours';
/** Maximum number of runs whose colours a browser remembers. */
const maxKept = 1_000;

/** Hue of each run that was drawn in this browser, the latest last. */
const hues = new Map<string, number>(readHues());

function readHues(): [string, number][] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    const isHue = (pair: unknown) => Array.isArray(pair) && Number.isInteger(pair[1]) && pair[1] < lineCount;
    return Array.isArray(read) ? read.filter(isHue) : [];
  } catch {
    return [];
  }
}

/**
 * Return the line style of each run. A run keeps its hue on every page and over reloads. A new run gets the hue that
 * the fewest of these runs have. Runs of one hue differ by their dashes.
 */
export function stylesOf(ids: readonly string[]): Map<string, number> {
  const used = new Array<number>(lineCount).fill(0);
  for (const id of ids) {
    const hue = hues.get(id);
    if (hue !== undefined) used[hue] = (used[hue] ?? 0) + 1;
  }
  let isNew = false;
  for (const id of ids) {
    if (hues.has(id)) continue;
    const hue = used.indexOf(Math.min(...used));
    used[hue] = (used[hue] ?? 0) + 1;
    hues.set(id, hue);
    isNew = true;
  }
  if (isNew) {
    for (const old of [...hues.keys()].slice(0, Math.max(0, hues.size - maxKept))) hues.delete(old);
    localStorage.setItem(key, JSON.stringify([...hues]));
  }
  const seen = new Array<number>(lineCount).fill(0);
  return new Map(
    ids.map((id) => {
      const hue = hues.get(id) ?? 0;
      const style = hue + lineCount * (seen[hue] ?? 0);
      seen[hue] = (seen[hue] ?? 0) + 1;
      return [id, style];
    }),
  );
}
