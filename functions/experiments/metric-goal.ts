import type { Experiment } from '../../shared/data/experiment.ts';
import { criteria } from './criteria.ts';

type Goal = Experiment['criterion']['goal'];

const minimized = /(?:^|[_-])(?:loss|error|err|nll|rmse|mse|mae|mape)$/i;
const maximized = /(?:^|[_-])(?:accuracy|acc|precision|recall|auc|auroc|f1|iou|score)$/i;

/**
 * Whether more or less of a metric is better: by the experiment's criterion, by the catalogue of criteria, or by what
 * such names usually mean. Undefined for the others, such as a learning rate, which nobody wants more or less of.
 */
export function metricGoal(name: string, criterion: Experiment['criterion']): Goal | undefined {
  const known = name === criterion.name ? criterion : criteria.find((one) => one.name === name);
  if (known !== undefined) return known.goal;
  return minimized.test(name) ? 'minimize' : maximized.test(name) ? 'maximize' : undefined;
}
