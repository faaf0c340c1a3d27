import * as z from 'zod';
import type { Experiment } from '../data/experiments/experiment.ts';
import { withEarlierBest } from '../data/experiments/experiment-row.ts';
import { isFinal } from '../data/jobs/job-status.ts';
import type { MetricSummary } from '../data/metrics/metric-summary.ts';
import { exampleNames } from '../metrics/metric-aliases.ts';
import { type MetricRanker, metricsOf } from '../metrics/metric-ranker.ts';
import { withoutSystem } from '../metrics/system-metric.ts';

/** Best value of an experiment in the responses of all operations. */
export const BestAnswer = z.object({
  criterion: z.string(),
  metric: z.string().describe('Metric name that the run reported.'),
  value: z.number(),
  step: z.number().nullable(),
});

/** Format the first names of a list for a message. */
export function shownNames(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).map((name) => name.slice(0, maxName));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Maximum number of metric names in a reason, and maximum characters of each. */
const maxNames = 20;
const maxName = 64;

/** Return the response fields about an experiment's best value. */
export function judged(
  experiment: Judged,
  summarized: ReadonlyMap<string, MetricSummary>,
  ranker: MetricRanker,
): { best: z.input<typeof BestAnswer> | null; best_reason: string | null } {
  const metrics = withEarlierBest(experiment, summarized);
  const best = ranker.best(metricsOf(metrics));
  return { best, best_reason: best === null ? reasonOf(experiment, withoutSystem(metrics), ranker) : null };
}

type Judged = Pick<Experiment, 'best' | 'kind' | 'status'>;

/** Return a sentence that says why a run has no best value. */
function reasonOf(
  { kind, status }: Judged,
  metrics: ReadonlyMap<string, MetricSummary>,
  ranker: MetricRanker,
): string {
  const { name } = ranker.criterion;
  const has = isFinal(status) ? 'reported' : 'has reported';
  const wanted = exampleNames(name);
  if (metrics.size === 0) {
    const how =
      kind === 'logged'
        ? `Log one, such as ${wanted[0]}`
        : `Append lines such as ${JSON.stringify({ [wanted[0] ?? name]: 0.5, step: 1 })} to METRICS_FILE, or log to MLflow`;
    return isFinal(status)
      ? `The run reported no metric. ${how}.`
      : `The run has reported no metric yet. ${how}.`;
  }
  const standing = ranker.standing(metricsOf(metrics));
  if (standing.length > 0)
    return `The project's criterion is ${name}, but ${shownNames(standing)} ${isFinal(status) ? 'had' : 'has had'} no finite value. NaN and infinity cannot be ranked.`;
  const names = shownNames([...metrics.keys()].sort());
  return `The project's criterion is ${name}, but the run ${has} only ${names}. Choose one of these as the project's criterion, or report ${wanted.join(' or ')}.`;
}
