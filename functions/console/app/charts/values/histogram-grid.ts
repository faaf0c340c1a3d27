import type { HistogramBin } from '../../../../../shared/runner/metric-files/histogram.ts';

/** Histogram of one step. */
export interface StepHistogram {
  step: number;
  bins: readonly HistogramBin[];
}

/** Shares of the values of each step in rows of equal height, the lowest first. */
export interface HistogramGrid {
  steps: readonly number[];
  low: number;
  high: number;
  /** Share of the values of a step in a row, by step and row. */
  shares: readonly Float64Array[];
}

/** Maximum steps in a drawing. */
const maxSteps = 240;

/** Return what is drawn of many steps: at most 240 at equal distances, the first and the last among them. */
export function drawnSteps<T>(all: readonly T[]): T[] {
  const last = all.length - 1;
  if (last < maxSteps) return [...all];
  return Array.from({ length: maxSteps }, (_, at) => all[Math.round((at * last) / (maxSteps - 1))] as T);
}

/** Put histograms of any bins over common rows. The values of a bin count evenly in the rows that it meets. */
export function histogramGrid(histograms: readonly StepHistogram[], rows: number): HistogramGrid | undefined {
  const shown = drawnSteps(histograms.filter(({ bins }) => bins.length > 0).sort((a, b) => a.step - b.step));
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { bins } of shown)
    for (const bin of bins) [low, high] = [Math.min(low, bin.low), Math.max(high, bin.high)];
  if (low > high) return undefined;
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const rowOf = (value: number): number =>
    Math.max(0, Math.min(rows - 1, Math.floor(((value - low) / (high - low)) * rows)));
  const shares = shown.map(({ bins }) => {
    const line = new Float64Array(rows);
    const total = bins.reduce((sum, { count }) => sum + count, 0);
    for (const bin of bins) {
      const [first, last] = [rowOf(bin.low), rowOf(bin.high)];
      for (let row = first; row <= last; row += 1) {
        const [from, to] = [low + (row / rows) * (high - low), low + ((row + 1) / rows) * (high - low)];
        const part =
          bin.high === bin.low
            ? Number(row === first)
            : Math.max(0, Math.min(to, bin.high) - Math.max(from, bin.low)) / (bin.high - bin.low);
        line[row] = (line[row] ?? 0) + (part * bin.count) / total;
      }
    }
    return line;
  });
  return { steps: shown.map(({ step }) => step), low, high, shares };
}
