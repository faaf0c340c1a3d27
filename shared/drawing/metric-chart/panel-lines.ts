import { greatest, least } from 'd3-array';
import { timeUnit } from '../chart-axis.ts';
import { valueText } from '../number-text.ts';
import { lineColours } from './line-colours.ts';
import type { MetricPanel, Subset } from './metric-panels.ts';
import type { DrawnPoint } from './metric-series.ts';

/** One line of a panel with its label. */
export interface PanelLine {
  name: string;
  colour: string;
  points: readonly DrawnPoint[];
  lastValue: number;
  /** Best point by the metric's goal; undefined if the goal is unknown. */
  best: DrawnPoint | undefined;
  /** Text such as `last 0.97, best 0.98 at step 17`. */
  summary: string;
}

export interface PanelLines {
  lines: readonly PanelLine[];
  /** Quantity on the x axis: `step`, or a unit of time. */
  progress: string;
}

export type Goal = 'maximize' | 'minimize';

/** Return the tooltip of a point. */
export const pointText = (name: string, point: DrawnPoint, progress: string): string =>
  `${name}: ${valueText(point.value)} at ${placeText(point, progress)}`;

/** Format the position of a point, such as `step 3` or `12.5 seconds`. */
const placeText = ({ x }: DrawnPoint, progress: string): string =>
  progress === 'step' ? `step ${valueText(x)}` : `${valueText(x)} ${progress}`;

const order: readonly Subset[] = ['', 'train', 'val', 'test'];

/**
 * Return the lines of a panel: by step if every point has one, else by the time since `start` (epoch milliseconds)
 * in a suitable unit.
 */
export function panelLines({ series }: MetricPanel, goal: Goal | undefined, start: number): PanelLines {
  const all = order.flatMap((subset) => {
    const one = series.get(subset);
    return one === undefined ? [] : [{ subset, one }];
  });
  const hasSteps = all.every(({ one }) => one.hasSteps);
  const longest = Math.max(...all.map(({ one }) => (one.times[1] - start) / 1000));
  const unit = timeUnit(longest);
  const progress = hasSteps ? 'step' : unit.name;
  const lines = all.map(({ subset, one }): PanelLine => {
    const points = one.drawn(({ step, time }) =>
      hasSteps && step !== null ? step : (time - start) / 1000 / unit.seconds,
    );
    const best =
      goal === 'maximize'
        ? greatest(points, ({ y }) => y)
        : goal === 'minimize'
          ? least(points, ({ y }) => y)
          : undefined;
    const lastValue = one.last ?? 0;
    const summary = `last ${valueText(lastValue)}${best === undefined ? '' : `, best ${valueText(best.value)} at ${placeText(best, progress)}`}`;
    return { name: one.name, colour: lineColours[subset], points, lastValue, best, summary };
  });
  return { lines, progress };
}
