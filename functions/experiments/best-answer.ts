import * as z from 'zod';
import { exampleNames } from '../../shared/criteria/metric-aliases.ts';
import { Best, type Experiment } from '../../shared/data/experiment.ts';
import { isFinal } from '../../shared/data/job-status.ts';

/** The best value of an experiment as every operation answers it. */
export const BestAnswer = Best.extend({
  metric: z.string().describe('Name under which the run reported it.'),
});

/** The best value with its metric, which earlier releases did not note: it had the criterion's name. */
export const showBest = (best: Best): z.input<typeof BestAnswer> => ({
  ...best,
  metric: best.metric ?? best.criterion,
});

/** Why an experiment has no best value, in a person's words; null where it has one. */
function bestReason({ best, criterion, metric_names, status }: Experiment): string | null {
  if (best !== null) return null;
  const { name, own = false } = criterion;
  const wanted = own ? name : exampleNames(name).join(', ');
  const ended = isFinal(status);
  if (metric_names !== undefined && metric_names.length > 0) {
    return `The project is judged by ${name}, and the run ${ended ? 'reported' : 'has reported'} only ${metric_names.join(', ')}. Report it as ${wanted}, or name one of these as the project's criterion.`;
  }
  const verb = ended ? 'reported no' : 'has not reported';
  return `The run ${verb} ${name}. Write it to METRICS_FILE as ${wanted}, one JSON line for each value.`;
}

/** What an experiment answers about its best value. */
export const judged = (experiment: Experiment) => ({
  best: experiment.best === null ? null : showBest(experiment.best),
  best_reason: bestReason(experiment),
});
