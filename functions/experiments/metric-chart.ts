import type { Experiment } from '../../shared/data/experiment.ts';
import type { MetricPoint } from '../../shared/data/metric-point.ts';
import { MetricPanels } from '../../shared/metric-chart/metric-panels.ts';
import { renderMetricChart } from '../../shared/metric-chart/render-metric-chart.ts';
import { countText } from '../../shared/svg/number-text.ts';
import { criteria } from './criteria.ts';

type Goal = Experiment['criterion']['goal'];

const minimized = /(?:^|[_-])(?:loss|error|err|nll|rmse|mse|mae|mape)$/i;
const maximized = /(?:^|[_-])(?:accuracy|acc|precision|recall|auc|auroc|f1|iou|score)$/i;

/**
 * Whether a higher or lower value of a metric is better: by the experiment's criterion, by the catalogue of criteria,
 * or by what such names usually mean. Undefined for the others, such as a learning rate.
 */
function metricGoal(name: string, criterion: Experiment['criterion']): Goal | undefined {
  const known = name === criterion.name ? criterion : criteria.find((one) => one.name === name);
  if (known !== undefined) return known.goal;
  return minimized.test(name) ? 'minimize' : maximized.test(name) ? 'maximize' : undefined;
}

/** The chart of an experiment's metrics, as SVG, from its points as they are read. */
export async function chartOf(
  experiment: Experiment,
  pages: AsyncIterable<readonly MetricPoint[]>,
): Promise<string> {
  const metrics = new MetricPanels();
  for await (const points of pages) metrics.take(points);
  const { experiment_id, config_id, config_version, status, started_at, criterion } = experiment;
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
