import { type JudgedBy, metricGoal } from '../../shared/criteria/criteria.ts';
import type { Experiment } from '../../shared/data/experiment.ts';
import type { MetricPoint } from '../../shared/data/metric-point.ts';
import { MetricPanels } from '../../shared/metric-chart/metric-panels.ts';
import { renderMetricChart } from '../../shared/metric-chart/render-metric-chart.ts';
import { countText } from '../../shared/svg/number-text.ts';

/** The chart of an experiment's metrics, as SVG, from its points as they are read. */
export async function chartOf(
  experiment: Experiment,
  criterion: JudgedBy,
  pages: AsyncIterable<readonly MetricPoint[]>,
): Promise<string> {
  const metrics = new MetricPanels();
  for await (const points of pages) metrics.take(points);
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
