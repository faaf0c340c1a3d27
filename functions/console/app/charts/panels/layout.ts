/** Chart that somebody put together: lines of several metrics, last values as points or as bars. */
export interface Panel {
  kind: 'lines' | 'scatter' | 'bars';
  metrics: readonly string[];
}

const kinds: readonly Panel['kind'][] = ['lines', 'scatter', 'bars'];

/** Return the text of a panel in an address, which is also its name among the charts. */
export const panelText = ({ kind, metrics }: Panel): string =>
  [kind, ...metrics.map(encodeURIComponent)].join(':');

/** Read a panel from the text of an address; undefined if it is none. */
export function readPanel(text: string): Panel | undefined {
  const [first, ...rest] = text.split(':');
  const kind = kinds.find((known) => known === first);
  if (kind === undefined || rest.length === 0) return undefined;
  const metrics = rest.map(decoded).filter((name) => name !== '');
  return kind === 'scatter' && metrics.length !== 2 ? undefined : { kind, metrics };
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
};

/** Put charts into the order that somebody gave some of them. The others follow as they were. */
export function inGivenOrder(names: readonly string[], order: readonly string[]): string[] {
  const known = new Set(names);
  const first = order.filter((name) => known.has(name));
  const placed = new Set(first);
  return [...first, ...names.filter((name) => !placed.has(name))];
}

/** Return the order after one chart of a section has been moved to the place of another one. */
export function movedOrder(
  shown: readonly string[],
  order: readonly string[],
  name: string,
  to: number,
): string[] {
  const from = shown.indexOf(name);
  const target = Math.max(0, Math.min(shown.length - 1, to));
  if (from < 0 || from === target) return [...order];
  const moved = shown.filter((chart) => chart !== name);
  moved.splice(target, 0, name);
  const here = new Set(shown);
  const lastGiven = shown.findLastIndex((chart) => order.includes(chart));
  // What stands behind the last moved one needs no place of its own.
  return [
    ...order.filter((chart) => !here.has(chart)),
    ...moved.slice(0, Math.max(from, target, lastGiven) + 1),
  ];
}

/** Size of a chart in columns and rows of the grid. */
export interface ChartSize {
  wide: number;
  high: number;
}

export const maxSpan = 3;

/** Return the nearest size that a chart may have. */
export const sizeWithin = ({ wide, high }: ChartSize): ChartSize => ({
  wide: Math.max(1, Math.min(maxSpan, wide)),
  high: Math.max(1, Math.min(maxSpan, high)),
});

/** Read the sizes of charts from texts such as `2x1:val%2Floss`. */
export function readSizes(texts: readonly string[]): Map<string, ChartSize> {
  const sizes = new Map<string, ChartSize>();
  for (const text of texts) {
    const [, wide, high, name] = /^([1-3])x([1-3]):(.+)$/s.exec(text) ?? [];
    if (name !== undefined) sizes.set(name, { wide: Number(wide), high: Number(high) });
  }
  return sizes;
}

export const sizeTexts = (sizes: ReadonlyMap<string, ChartSize>): string[] =>
  [...sizes].flatMap(([name, { wide, high }]) => (wide === 1 && high === 1 ? [] : `${wide}x${high}:${name}`));
