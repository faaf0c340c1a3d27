/**
 * Words that make a printed name one of a metric. Longer names count by their last or first word, such as
 * `val_loss`, `loss_cls` and `Loss_D`.
 */
const words: ReadonlySet<string> = new Set([
  ...['loss', 'losses', 'acc', 'acc1', 'acc5', 'accuracy', 'top1', 'top5', 'auc', 'auroc', 'roc', 'rocauc'],
  ...['f1', 'fscore', 'f1score', 'precision', 'recall', 'specificity', 'sensitivity', 'mcc', 'kappa', 'ndcg'],
  ...['mse', 'rmse', 'mae', 'mape', 'rmsle', 'r2', 'l1', 'l2', 'huber', 'quantile'],
  ...[
    'logloss',
    'mlogloss',
    'error',
    'err',
    'merror',
    'nll',
    'crossentropy',
    'bce',
    'kl',
    'kld',
    'elbo',
    'objective',
  ],
  ...[
    'perplexity',
    'ppl',
    'bpb',
    'bpc',
    'bleu',
    'sacrebleu',
    'rouge',
    'rougel',
    'meteor',
    'chrf',
    'cider',
    'wer',
    'cer',
  ],
  ...['map', 'map50', 'miou', 'iou', 'dice', 'jaccard', 'psnr', 'ssim', 'fid', 'score', 'reward', 'return'],
  ...['ap', 'ap50', 'ap75', 'ar', 'ce', 'mrr', 'bpd', 'exploitability', 'inertia'],
]);

const qualifiers: ReadonlySet<string> = new Set([
  ...[
    'train',
    'training',
    'val',
    'valid',
    'validation',
    'eval',
    'evaluation',
    'test',
    'testing',
    'dev',
    'best',
  ],
]);

/** Words in front of a metric that say nothing about it. */
const fillers: ReadonlySet<string> = new Set([
  'average',
  'avg',
  'mean',
  'total',
  'epoch',
  'set',
  'the',
  'running',
  'current',
]);

/** Numbers that lines of training hold beside metrics, which are worth a curve. */
const companions: ReadonlySet<string> = new Set([
  'lr',
  'learning_rate',
  'learningrate',
  'grad_norm',
  'gradnorm',
]);

/** Nearly every line of a training has one of these, and few others: a decimal number, a fraction, or a word of a heading. */
export const trainingMarks: readonly string[] = ['.', 'poch', 'nan', 'ward', '/'];

/** Return the words of a name in lower case, split at separators and at capitals. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll("'s", '')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** Return whether a printed name is one of a metric. */
export const isMetricName = remembered((name: string): boolean => {
  const parts = wordsOf(name);
  const first = parts.find((word) => !qualifiers.has(word) && !fillers.has(word)) ?? '';
  const last =
    parts.findLast(
      (word) => !qualifiers.has(word) && !/^\d+$|^(?:k|at|step|epoch|avg|mean|value|seg)$/.test(word),
    ) ?? '';
  return isWord(first) || isWord(last) || isWord(parts.join('')) || isWord(parts.slice(-2).join(''));
});

/** Keep the results for names, because a training prints the same few on every line. Memory is bounded. */
export function remembered<T extends {}>(resultOf: (name: string) => T): (name: string) => T {
  const results = new Map<string, T>();
  return (name) => {
    const known = results.get(name);
    if (known !== undefined) return known;
    const result = resultOf(name);
    if (results.size === maxRemembered) results.clear();
    results.set(name, result);
    return result;
  };
}

const maxRemembered = 1_000;

const isWord = (word: string): boolean =>
  words.has(word) || (word.length > 4 && /(?:loss|acc|accuracy)$/.test(word));

const losses = /(?:loss|losses|nll|bce|ce|kl|kld|elbo|objective|crossentropy|error|err|mse|mae|huber)$/;

/** Return whether a name is one of a loss, which programs print of training data. */
export const isLoss = remembered((name: string): boolean => wordsOf(name).some((word) => losses.test(word)));

/** Return whether a number under this name is kept beside metrics. */
export const isCompanion = (name: string): boolean =>
  companions.has(name.toLowerCase().replaceAll(/[ -]/g, '_'));

/**
 * Return the name under which a printed number is stored: `train loss` is `train_loss`, and `Average loss` is
 * `loss`. Words that belong to the sentence in front of the metric are left out.
 */
export const storedName = remembered((name: string): string => {
  const parts = partsOf(name);
  const lower = parts.map((word) => word.toLowerCase());
  let from = parts.length - 1;
  // `lm loss PPL` of Megatron is a perplexity.
  const isOfLoss = /^(?:ppl|perplexity)$/.test(lower.at(-1) ?? '');
  const belongs = (word: string): boolean => qualifiers.has(word) || (!isOfLoss && isWord(word));
  while (from > 0 && belongs(lower[from - 1] ?? '')) from -= 1;
  return joined(parts.slice(from));
});

/** Return the name of a printed number with all its words, where {@link storedName} does not tell two apart. */
export const wholeName = remembered((name: string): string => joined(partsOf(name)));

const partsOf = (name: string): string[] =>
  name
    .replaceAll(/'s\b| value$/g, '')
    .split(/[\s:]+/)
    .filter((word) => word !== '');

function joined(parts: readonly string[]): string {
  const name = parts.join('_').replaceAll('@', '');
  // Programs write `Loss` and `loss`; names with capitals within are of one framework.
  return /^[A-Z][a-z\d]*(?:_[A-Z]?[a-z\d]+)*$|^[A-Z\d_]+$/.test(name) ? name.toLowerCase() : name;
}

/** Return whether a word says which data were measured. */
export const isQualifier = (word: string): boolean => qualifiers.has(word.toLowerCase());
