import type { Experiment } from '../../../shared/data/experiments/experiment.ts';
import { readRuns } from '../../../shared/data/metrics/metric-history.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { MetricPanels } from '../../../shared/drawing/metric-chart/metric-panels.ts';
import { renderMetricChart } from '../../../shared/drawing/metric-chart/render-metric-chart.ts';
import { countText } from '../../../shared/drawing/number-text.ts';
import { isInRange, type WantedPoints } from '../../../shared/experiments/read-points.ts';
import { type JudgedBy, metricGoal } from '../../../shared/metrics/criteria.ts';
import { isSystemMetric } from '../../../shared/metrics/system-metric.ts';

/**
 * Draw the chart of an experiment's metrics as SVG. It thins the lines while it reads the columns of points, so a
 * run of a million points does not create an object for each.
 */
export async function chartOf(
  records: TableReader<'records'>,
  experiment: Experiment,
  criterion: JudgedBy,
  wantedPoints: WantedPoints,
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
    title: `Metrics of experiment ${experiment_id}`,
    notes: [
      `${config_id === null ? '' : `${config_id} version ${config_version}; `}${status.toLowerCase()}; ${count}`,
    ],
    goalOf: (name) => metricGoal(name, criterion),
    start: started_at === null ? undefined : Date.parse(started_at),
  });
}
