/** Kinds of files in which frameworks write metrics. */
export type MetricFileKind = 'tensorboard' | 'csv' | 'trainer' | 'summary';

/** Return the kind of a file by its path; undefined for other files. */
export function metricFileKind(path: string): MetricFileKind | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^events\.out\.tfevents\./.test(name)) return 'tensorboard';
  if (name === 'trainer_state.json') return 'trainer';
  if (/\.(?:csv|tsv)$/i.test(name) || ofLines.test(name)) return 'csv';
  // Keras's CSVLogger is often given a name such as training.log.
  if (/^(?:train|training|history|metrics|csv)[\w-]*\.(?:log|txt)$/i.test(name)) return 'csv';
  if (
    /^(?:(?:\w+[_-])?metrics|all_results|(?:train|eval|test|predict)_results|scores|meta)\.json$/i.test(name)
  )
    return 'summary';
  return undefined;
}

/** Names of files with a JSON object in each line. */
const ofLines =
  /^(?:scalars|result|progress)\.json$|\.log\.json$|^(?:\w+[_-])?(?:metrics?|log|logs|history|results?|progress|scalars|train|training)\.jsonl$|^log\.txt$/i;

/** Return whether a file may have a JSON object in each line. `metrics.json` of detectron2 has, that of DVC is one object. */
export const mayHoldLines = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return ofLines.test(name) || /^(?:\w+[_-])?metrics\.json$/i.test(name);
};
