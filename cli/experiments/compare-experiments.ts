import type { Experiment } from './follow-experiment.ts';

export interface Comparison {
  experiments: string[];
  /** Values by name, one for each experiment; null where it has none. */
  /** The best value of each by the project's criterion; null where it has none. */
  best: Experiment['best'][];
  params: Record<string, (string | null)[]>;
  /** The newest value of each metric; a text where JSON has no such number. */
  metrics: Record<string, (number | string | null)[]>;
  attributes: Record<string, (string | number | null)[]>;
}

const attributes = [
  'name',
  'status',
  'duration',
  'cost',
  'config_id',
  'config_sha256',
  'source_sha256',
  'dataset_sha256',
  'lock_hash',
  'nodes',
  'vcpus',
  'memory',
  'gpus',
] as const;

function byName<T>(all: readonly ReadonlyMap<string, T>[]): Record<string, (T | null)[]> {
  const names = [...new Set(all.flatMap((one) => [...one.keys()]))].sort();
  return Object.fromEntries(names.map((name) => [name, all.map((one) => one.get(name) ?? null)]));
}

/** Parameters, newest metrics and attributes of experiments, beside each other. */
export function compareExperiments(experiments: readonly Experiment[]): Comparison {
  return {
    experiments: experiments.map(({ experiment_id }) => experiment_id),
    best: experiments.map(({ best }) => best),
    params: byName(experiments.map(({ params }) => new Map(Object.entries(params)))),
    metrics: byName(
      experiments.map(
        ({ metrics }) => new Map(Object.entries(metrics).map(([name, { last }]) => [name, last])),
      ),
    ),
    attributes: Object.fromEntries(
      attributes.map((name) => [name, experiments.map((experiment) => experiment[name])]),
    ),
  };
}

/** Whether the experiments have different values. */
export const differs = (values: readonly unknown[]): boolean => values.some((value) => value !== values[0]);
