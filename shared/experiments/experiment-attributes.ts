/** Attributes of experiments by our names. */
export const ownAttributes = [
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
  'sweep',
  'trial',
  'outcome',
] as const;
export type OwnAttribute = (typeof ownAttributes)[number];

/** Attributes of experiments that `filter` and `order_by` may use: our names, and MLflow's equivalents. */
export const experimentAttributes = [
  ...ownAttributes,
  'run_id',
  'run_name',
  'start_time',
  'end_time',
] as const;
