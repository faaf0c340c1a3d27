import type { Experiment } from '../data/experiments/experiment.ts';
import { readRuns } from '../data/metrics/metric-history.ts';
import type { TableReader } from '../data/table/table.ts';
import { MetricPanels } from '../drawing/metric-chart/metric-panels.ts';
import { renderMetricChart } from '../drawing/metric-chart/render-metric-chart.ts';
import { countText } from '../drawing/number-text.ts';
import { type JudgedBy, metricGoal } from '../metrics/criteria.ts';
import { isSystemMetric } from '../metrics/system-metric.ts';
import { isInRange, type WantedPoints } from './read-points.ts';

/**
 * Draw the chart of an experiment's metrics as SVG. It thins the lines while it reads the columns of points, so a
 * run of a million points does not create an object for each.
 * @param head what stands above it; by default the id of the experiment, its configuration and its state
 */
export async function chartOf(
  records: TableReader<'records'>,
  experiment: Experiment,
  criterion: JudgedBy,
  wantedPoints: WantedPoints,
  head?: { title: string; notes: readonly string[] },
): Promise<string> {
  const metrics = new MetricPanels();
  const names = wantedPoints.names && new Set(wantedPoints.names);
  const isRange = wantedPoints.step_from !== undefined || wantedPoints.step_to !== undefined;
  const isWanted = isRange ? (step: number) => isInRange(step, wantedPoints) : undefined;
  for await (const { runs } of readRuns(records, experiment.experiment_id, names))
    for (const run of runs.toSorted((a, b) => (a.numbers[0] ?? 0) - (b.numbers[0] ?? 0)))
      if (names !== undefined || !isSystemMetric(run.name)) metrics.take(run, isWanted);
  const { experiment_id, config_id, config_version, status, started_at } = experiment;
  const count = `${countText(metrics.points)} ${metrics.points === 1 ? 'point' : 'points'}`;
  return renderMetricChart(metrics, {
    title: head?.title ?? `Metrics of experiment ${experiment_id}`,
    notes: head?.notes ?? [
      `${config_id === null ? '' : `${config_id} version ${config_version}; `}${status.toLowerCase()}; ${count}`,
    ],
    goalOf: (name) => metricGoal(name, criterion),
    start: started_at === null ? undefined : Date.parse(started_at),
  });
}
