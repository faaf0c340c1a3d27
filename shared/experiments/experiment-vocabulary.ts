import { outcomeOf } from '../data/experiments/experiment.ts';
import type { ExperimentRow } from '../data/experiments/experiment-row.ts';
import { actualCost } from '../jobs/cost.ts';
import { durationOf } from '../jobs/shown-job.ts';
import { regularExpression } from '../search/regular-expression.ts';
import { secondsOf } from '../search/time-words.ts';
import type { Attribute, FreeWords, NamedValue, Vocabulary } from '../search/vocabulary.ts';
import type { ExperimentAttribute } from './experiment-attributes.ts';
import { unknownName } from './search/unknown-name.ts';

/** Vocabulary of `filter` and `order_by` for experiments: our names, and MLflow's equivalents. */
export function experimentVocabulary({
  now,
  usernameOf,
  bestOf,
  bestOrderOf,
  isFree = false,
}: Surroundings): Vocabulary<ExperimentRow> {
  const experiment_id: Attribute<ExperimentRow> = { type: 'text', read: (row) => row.experiment_id };
  const name: Attribute<ExperimentRow> = { type: 'text', read: (row) => row.name };
  const started_at: Attribute<ExperimentRow> = { type: 'time', read: (row) => timeOf(row.started_at) };
  const stopped_at: Attribute<ExperimentRow> = { type: 'time', read: (row) => timeOf(row.stopped_at) };
  return {
    attributes: {
      experiment_id,
      name,
      status: { type: 'text', read: (row) => row.status, typed: (text) => text.toUpperCase() },
      kind: { type: 'text', read: (row) => row.kind },
      user: { type: 'text', read: (row) => row.ci_name ?? usernameOf(row.user_id) },
      config: { type: 'text', read: (row) => row.config_id },
      created_at: { type: 'time', read: (row) => timeOf(row.created_at) },
      started_at,
      stopped_at,
      duration: { type: 'number', read: (row) => durationOf(row, now), typed: secondsOf },
      cost: { type: 'number', read: actualCost },
      best: { type: 'number', read: bestOf, ...(bestOrderOf && { order: bestOrderOf }) },
      sweep: { type: 'text', read: (row) => row.sweep?.sweep_id ?? null },
      trial: { type: 'number', read: (row) => row.sweep?.trial ?? null },
      outcome: { type: 'text', read: outcomeOf },
      run_id: experiment_id,
      run_name: name,
      start_time: started_at,
      end_time: stopped_at,
    } satisfies Readonly<Record<ExperimentAttribute, Attribute<ExperimentRow>>>,
    groups: {
      metrics: { type: 'number', read: (row, key) => row.lastOf(key) },
      params: { type: 'text-or-number', read: (row, key) => row.param(key) },
      tags: { type: 'text', read: (row, key) => row.tag(key) },
    },
    groupAliases: {
      metric: 'metrics',
      param: 'params',
      parameter: 'params',
      parameters: 'params',
      tag: 'tags',
    },
    expressions: regularExpression,
    ...(isFree && { free: freeWords(now) }),
  };
}

const freeWords = (now: Date): FreeWords<ExperimentRow> => ({
  named: namedFreely,
  textOf: (row) =>
    [
      row.name,
      row.experiment_id,
      row.status,
      row.config_id ?? '',
      ...row.params.values(),
      ...row.tags.values(),
    ]
      .join(' ')
      .toLowerCase(),
  timeOf: ({ created_at }) => Date.parse(created_at),
  now: () => now,
});

/** Resolve a name without a group: a param, else a metric, else a tag of each experiment. */
function namedFreely(name: string): NamedValue<ExperimentRow> {
  const read = (row: ExperimentRow) => row.param(name) ?? row.lastOf(name) ?? row.tag(name);
  return {
    label: name,
    type: 'text-or-number',
    read,
    absence(rows) {
      const names = new Set<string>();
      for (const row of Iterator.from(rows).take(maxNamed))
        for (const group of [row.params.keys(), row.metricNames, row.tags.keys()])
          for (const one of group) names.add(one);
      return unknownName(name, names);
    },
  };
}

/** Rows whose names are compared with one that none has. */
const maxNamed = 500;

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
