/** Attributes of experiments that `filter` and `order_by` may name: our names, and those of MLflow that mean the same. */
export const experimentAttributes = [
  'experiment_id',
  'name',
  'status',
  'kind',
  'user',
  'config',
  'created_at',
  'started_at',
  'stopped_at',
  'duration',
  'cost',
  'best',
  'run_id',
  'run_name',
  'start_time',
  'end_time',
] as const;
export type ExperimentAttribute = (typeof experimentAttributes)[number];
