import { outcomeOf } from '../data/experiments/experiment.ts';
import type { ExperimentRow } from '../data/experiments/experiment-row.ts';
import { actualCost } from '../jobs/cost.ts';
import { durationOf } from '../jobs/shown-job.ts';
import { regularExpression } from '../search/regular-expression.ts';
import type { Vocabulary } from '../search/vocabulary.ts';
import { vocabularyOf, wordsOf } from './search/vocabulary-of.ts';

/** Vocabulary of `filter` and `order_by` for experiments in the service. */
export function experimentVocabulary({
  now,
  usernameOf,
  bestOf,
  bestOrderOf,
  isFree = false,
}: Surroundings): Vocabulary<ExperimentRow> {
  return vocabularyOf<ExperimentRow>({
    attributes: {
      experiment_id: (row) => row.experiment_id,
      name: (row) => row.name,
      status: (row) => row.status,
      kind: (row) => row.kind,
      user: (row) => row.ci_name ?? usernameOf(row.user_id),
      config: (row) => row.config_id,
      created_at: (row) => timeOf(row.created_at),
      started_at: (row) => timeOf(row.started_at),
      stopped_at: (row) => timeOf(row.stopped_at),
      duration: (row) => durationOf(row, now),
      cost: actualCost,
      best: bestOf,
      sweep: (row) => row.sweep?.sweep_id ?? null,
      trial: (row) => row.sweep?.trial ?? null,
      outcome: outcomeOf,
    },
    bestOrder: bestOrderOf,
    metric: (row, name) => row.lastOf(name),
    param: (row, name) => row.param(name),
    tag: (row, name) => row.tag(name),
    expressions: regularExpression,
    free: isFree
      ? {
          now: () => now,
          textOf: (row) => wordsOf(row, [...row.params.values(), ...row.tags.values()]),
          namesOf,
        }
      : undefined,
  });
}

/** Rows whose names are compared with one that none has. */
const maxNamed = 500;

function* namesOf(rows: Iterable<ExperimentRow>): Iterable<string> {
  for (const row of Iterator.from(rows).take(maxNamed))
    for (const group of [row.params.keys(), row.metricNames, row.tags.keys()]) yield* group;
}

/** Values that rows do not contain. */
interface Surroundings {
  now: Date;
  /** Return the name of a user. Return undefined once that user is deleted. */
  usernameOf(user_id: string): string | undefined;
  /** Return the best value of a row by the criterion of its project. */
  bestOf(row: ExperimentRow): number | undefined;
  /** Return a number that is the lower, the better the best value of a row is. Filters need none. */
  bestOrderOf?(row: ExperimentRow): number | undefined;
  /** Whether filters may have names without groups, and words. What is kept, as filters of hooks, says what it means. */
  isFree?: boolean;
}

const timeOf = (time: string | null): number | null => (time === null ? null : Date.parse(time));
