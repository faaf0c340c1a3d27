import type { Mark } from './marked-lines.ts';

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

const keyword =
  /loss|LOSS|Loss|acc|Acc|ACC|auc|AUC|rror|mse|MSE|mae|MAE|mape|f1|F1|F_?[Ss]core|score|SCORE|Score|recall|Recall|recision|ppl|erplexity|nll|elbo|bleu|BLEU|ouge|wer|WER|iou|IoU|dice|Dice|mAP|map|psnr|ssim|fid|eward|eturn|R2|r2|\bl[12]:|ndcg|kappa|bjective|learn: |finished with value|itness: |^gen *\t|^-- Generation /;

/** A number, or a heading of a table, which has none. */
const digit = /\d|^E {2,8}#|^epoch {2,}|^gen *\t/;

/**
 * What nearly every line of a training has and few others: a decimal number, or a word of a heading. It is tested
 * first, because {@link keyword} takes four times as long.
 */
const mark = /\d\.\d|poch|LOSS|\d\/\d|nan|\de[-+]\d|ward|nevals|^-- Generation /;

/** Every line that {@link mayBeOfTraining} holds one of these. */
export const trainingMarks: readonly Mark[] = [
  ...['.', 'poch', 'LOSS', 'nan', 'ward', 'nevals', 'Generation ', '/'].map((text) => ({ text })),
  ...['-', '+'].map((text) => ({ text, after: 'e' })),
];

/** Return quickly whether a line may be one of a training. Nearly all lines of other programs end here. */
export const mayBeOfTraining = (line: string): boolean => mark.test(line);

/** Return whether a line may hold a metric. */
export const mayHoldMetric = (line: string): boolean => keyword.test(line) && digit.test(line);

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
    parts.findLast((word) => !qualifiers.has(word) && !/^\d+$|^(?:k|at|step|epoch|avg|mean)$/.test(word)) ??
    '';
  return isWord(first) || isWord(last) || isWord(parts.join(''));
});

/** Keep the results for names, because a training prints the same few on every line. Memory is bounded. */
function remembered<T extends boolean | string>(resultOf: (name: string) => T): (name: string) => T {
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
  while (from > 0 && (qualifiers.has(lower[from - 1] ?? '') || isWord(lower[from - 1] ?? ''))) from -= 1;
  return joined(parts.slice(from));
});

/** Return the name of a printed number with all its words, where {@link storedName} does not tell two apart. */
export const wholeName = remembered((name: string): string => joined(partsOf(name)));

const partsOf = (name: string): string[] =>
  name
    .replaceAll(/'s\b/g, '')
    .split(/[\s:]+/)
    .filter((word) => word !== '');

function joined(parts: readonly string[]): string {
  const name = parts.join('_').replaceAll('@', '');
  // Programs write `Loss` and `loss`; names with capitals within are of one framework.
  return /^[A-Z][a-z\d]*(?:_[A-Z]?[a-z\d]+)*$|^[A-Z\d_]+$/.test(name) ? name.toLowerCase() : name;
}

/** Return whether a word says which data were measured. */
export const isQualifier = (word: string): boolean => qualifiers.has(word.toLowerCase());
