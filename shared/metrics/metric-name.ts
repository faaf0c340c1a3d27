/** Parts of a reported metric name. */
export interface MetricName {
  on: MeasuredOn;
  /** Metric without the words for its data, in lower case and without separators, for example `f1score`. */
  metric: string;
  /**
   * Whether it is the value of one step instead of the mean of an epoch, for example Lightning's
   * `train_loss_step`.
   */
  ofStep: boolean;
}

/** Data that a metric was measured on, according to its name. Null if the name does not say. */
export type MeasuredOn = 'validation' | 'test' | 'training' | null;

/** Parse a reported metric name. The words for the data come before or after the metric, with any separator. */
export function readMetricName(name: string): MetricName {
  let words = wordsOf(name);
  let on: MeasuredOn = null;
  let ofStep = false;
  for (let before = 0; before !== words.length && words.length > 1; ) {
    before = words.length;
    const [first = '', second = ''] = words;
    const last = words.at(-1) ?? '';
    if (on === null && dataWords.has(first)) {
      on = dataWords.get(first) ?? null;
      // XGBoost and LightGBM number their data sets.
      words = words.slice(words.length > 2 && /^\d+$/.test(second) ? 2 : 1);
    } else if (on === null && dataWords.has(last)) {
      on = dataWords.get(last) ?? null;
      words = words.slice(0, -1);
    } else if (emptyWords.has(first)) words = words.slice(1);
    // Lightning adds `_step` and `_epoch` to a metric that it logs by both, and numbers its data loaders.
    else if (last === 'epoch' || last === 'step') {
      ofStep ||= last === 'step';
      words = words.slice(0, -1);
    } else if (words.length > 3 && /^dataloader idx \d+$/.test(words.slice(-3).join(' ')))
      words = words.slice(0, -3);
  }
  return { on, metric: words.join(''), ofStep };
}

/** Split a name into lower-case words at separators and at capitals, as in `valLoss`. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/**
 * Words of a name that tell the data of a metric: `val_acc` (Keras), `eval_loss` (Hugging Face Trainer),
 * `valid/acc` (fastai), `validation_0-rmse` (XGBoost), `loss.val`, `train/loss` (Lightning).
 */
const dataWords: ReadonlyMap<string, NonNullable<MeasuredOn>> = new Map([
  ['val', 'validation'],
  ['valid', 'validation'],
  ['validation', 'validation'],
  ['eval', 'validation'],
  ['evaluation', 'validation'],
  ['dev', 'validation'],
  ['test', 'test'],
  ['testing', 'test'],
  ['train', 'training'],
  ['training', 'training'],
]);

/** Prefixes without meaning: `metrics/…` (Ultralytics), `epoch_loss` (Keras for TensorBoard). */
const emptyWords = new Set(['metrics', 'metric', 'epoch']);

/**
 * Return the possible readings of a name, the likeliest first. `valloss` is a metric of that name, or the loss on
 * validation data.
 */
export function readingsOf(name: string): MetricName[] {
  const read = readMetricName(name);
  if (read.on !== null) return [read];
  const { metric } = read;
  const joined = [...dataWords].flatMap(([word, on]) => [
    ...(metric.startsWith(word) ? [{ ...read, on, metric: metric.slice(word.length) }] : []),
    ...(metric.endsWith(word) ? [{ ...read, on, metric: metric.slice(0, -word.length) }] : []),
  ]);
  return [read, ...joined.filter((one) => one.metric !== '')];
}
