import { metricRank } from '../../shared/criteria/metric-aliases.ts';
import { criteria, goalInCatalogue } from './criteria.ts';

type Goal = 'maximize' | 'minimize';

/** The metric that a project is judged by. */
interface Judge {
  name: string;
  goal: Goal;
}

/** Words that say on which data or how often a metric was measured, before it or behind it. */
const dataWords = /^(?:(?:train|training|val|valid|validation|eval|test|dev|epoch|step|batch)_)+/;
const dataWordsBehind = /(?:_(?:train|training|val|valid|validation|eval|test|dev|epoch|step|batch))+$/;
const minimized =
  /(?:^|_)(?:loss|error|error_rate|err|nll|rmse|mse|mae|mape|perplexity|ppl|latency|wer|cer|fid)$/;
const maximized = /(?:^|_)(?:accuracy|acc|precision|recall|auc|auroc|f1|iou|score|reward)$/;

const catalogued = (name: string): Goal | undefined =>
  criteria.find((criterion) => metricRank(name, { name: criterion.name }) !== undefined)?.goal;

/**
 * Whether a higher or lower value of a metric is better: by the project's criterion, by the catalogue of criteria and
 * the names under which frameworks report them, or by what such names usually mean. Undefined for the others, such as a
 * learning rate: nobody knows which is best.
 */
export function metricGoal(name: string, judge: Judge | undefined): Goal | undefined {
  if (judge !== undefined) {
    const own = goalInCatalogue(judge.name) !== judge.goal;
    if (name === judge.name || metricRank(name, { name: judge.name, own }) !== undefined) return judge.goal;
  }
  const known = catalogued(name);
  if (known !== undefined) return known;
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(dataWords, '')
    .replace(dataWordsBehind, '');
  return (
    catalogued(plain) ?? (minimized.test(plain) ? 'minimize' : maximized.test(plain) ? 'maximize' : undefined)
  );
}
