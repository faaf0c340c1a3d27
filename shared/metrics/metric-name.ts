/** A reported name, taken apart. */
export interface MetricName {
  on: MeasuredOn;
  /** The metric without the words for its data: lower case, without separators, such as `f1score`. */
  metric: string;
  /** Whether it is the value of one step where others are the mean of an epoch, such as Lightning's `train_loss_step`. */
  ofStep: boolean;
}

/** The data on which a metric was measured, as its name says; null where it does not say. */
export type MeasuredOn = 'validation' | 'test' | 'training' | null;

/** Take a reported name apart. The words for the data stand before or after the metric, parted by anything. */
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
      // XGBoost and LightGBM number their data.
      words = words.slice(words.length > 2 && /^\d+$/.test(second) ? 2 : 1);
    } else if (on === null && dataWords.has(last)) {
      on = dataWords.get(last) ?? null;
      words = words.slice(0, -1);
    } else if (emptyWords.has(first)) words = words.slice(1);
    // Lightning writes both of a metric that it logs by step and by epoch, and numbers its loaders.
    else if (last === 'epoch' || last === 'step') {
      ofStep ||= last === 'step';
      words = words.slice(0, -1);
    } else if (words.length > 3 && /^dataloader idx \d+$/.test(words.slice(-3).join(' ')))
      words = words.slice(0, -3);
  }
  return { on, metric: words.join(''), ofStep };
}

/** Lower-case words: separators part them, and so does a capital in `valLoss`. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/**
 * Words of a name that say on which data a metric was measured: `val_acc` (Keras), `eval_loss` (Hugging Face Trainer),
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

/** Words in front that say nothing: `metrics/…` (Ultralytics), `epoch_loss` (Keras for TensorBoard). */
const emptyWords = new Set(['metrics', 'metric', 'epoch']);

/**
 * The ways to read a name, the likeliest first: `valloss` is a metric of that name, or the loss on validation data.
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
