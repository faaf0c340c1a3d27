/**
 * Sources of the metrics of a program that reports none itself: its log, TensorBoard's files, tables such as
 * `metrics.csv`, `trainer_state.json`, and JSON files of single values.
 */
export const foundSources = ['log', 'tensorboard', 'csv', 'trainer', 'summary'] as const;

export type FoundSource = (typeof foundSources)[number];

/** Words for people. */
export const foundSourceText: Readonly<Record<FoundSource, string>> = {
  log: 'from the log',
  tensorboard: "from TensorBoard's files",
  csv: 'from a table of metrics',
  trainer: 'from trainer_state.json',
  summary: 'from a JSON file of metrics',
};
