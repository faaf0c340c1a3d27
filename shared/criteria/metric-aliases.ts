/**
 * Names under which frameworks report the metrics of the catalogue, beside its own. As frameworks have them, without the
 * data that they were measured on:
 * - Keras: `acc`, `binary_accuracy`, `categorical_accuracy`, `sparse_categorical_accuracy`, `mean_squared_error`
 *   (keras.io/api/metrics)
 * - scikit-learn: `accuracy_score`, `f1_score`, `roc_auc_score`, `ndcg_score`, `jaccard_score`, `silhouette_score`
 *   (scikit-learn.org, "Metrics and scoring"), as MLflow's autologging reports them, too
 * - timm and TorchVision: `top1`, `acc1` (their training scripts' logs)
 * - LightGBM and XGBoost: `auc`, `l1`, `l2`, `logloss`, `rmse` (the parameter `metric` or `eval_metric`)
 * - Ultralytics: `mAP50-95` (docs.ultralytics.com, "Performance metrics")
 * - TorchMetrics: `mean_ap`, `jaccard_index`, `word_error_rate` (lightning.ai/docs/torchmetrics)
 * - Hugging Face Evaluate: `sacrebleu`, `rougeL` (huggingface.co/evaluate-metric); Stable-Baselines3: `ep_rew_mean`
 */
const aliases: Readonly<Record<string, readonly string[]>> = {
  accuracy: [
    'acc',
    'acc1',
    'top1',
    'top1_acc',
    'top1_accuracy',
    'accuracy_score',
    'binary_accuracy',
    'categorical_accuracy',
    'sparse_categorical_accuracy',
  ],
  f1: ['f1_score', 'f1_macro', 'macro_f1', 'f_score', 'f1score'],
  roc_auc: ['auc', 'auroc', 'roc_auc_score'],
  ndcg: ['ndcg_score'],
  precision: ['precision_score'],
  recall: ['recall_score'],
  rmse: ['root_mean_squared_error'],
  mae: ['mean_absolute_error', 'l1'],
  mse: ['mean_squared_error', 'l2'],
  mape: ['mean_absolute_percentage_error'],
  r2: ['r2_score', 'r_squared'],
  map: ['mean_ap', 'mean_average_precision', 'map50_95', 'map_50_95'],
  miou: ['mean_iou'],
  iou: ['jaccard', 'jaccard_index', 'jaccard_score'],
  dice: ['dice_score', 'dice_coefficient', 'dice_coef'],
  bleu: ['bleu_score', 'sacrebleu'],
  rouge: ['rougel', 'rouge_l'],
  exact_match: ['em'],
  wer: ['word_error_rate'],
  cer: ['character_error_rate', 'char_error_rate'],
  perplexity: ['ppl'],
  silhouette: ['silhouette_score'],
  episode_return: ['ep_rew_mean', 'episode_reward', 'mean_reward'],
  loss: ['logloss', 'log_loss', 'total_loss', 'nll', 'nll_loss'],
};

/**
 * Words before a metric that say on which data it was measured: `val_acc` (Keras), `eval_loss` (Hugging Face Trainer),
 * `valid/acc` (Lightning, fastai), `validation_0-rmse` (XGBoost), `metrics/…` (Ultralytics). Validation data come first:
 * what training is measured on flatters it, and test data are not for choosing. Training data are no word here.
 */
const dataWords: Readonly<Record<string, number>> = {
  val: 0,
  valid: 0,
  validation: 0,
  eval: 0,
  evaluation: 0,
  dev: 0,
  metrics: 1,
  test: 2,
};
/** Of a metric that does not say on which data it was measured. */
const plainRank = 1;

const known = new Map(
  Object.entries(aliases).flatMap(([name, others]) =>
    [name, ...others].map((other) => [other, name] as const),
  ),
);

/** The criterion of a project, and whether it was named for that project alone. */
export interface NamedCriterion {
  name: string;
  /** A metric that the catalogue does not have: only its own name counts. */
  own?: boolean | undefined;
}

/**
 * Rank of a reported metric among those that stand for a criterion, 0 the best; undefined where it is another metric.
 * Case does not matter, and `/`, `.`, `-`, spaces and brackets count as underscores.
 */
export function metricRank(reported: string, { name, own = false }: NamedCriterion): number | undefined {
  if (own) return reported === name ? 0 : undefined;
  const words = reported
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const rank = Object.hasOwn(dataWords, words[0] ?? '') ? dataWords[words[0] ?? ''] : undefined;
  const rest = rank === undefined ? words : words.slice(1);
  // XGBoost and LightGBM number their data.
  if (rank !== undefined && rest.length > 1 && /^\d+$/.test(rest[0] ?? '')) rest.shift();
  const metric = rest.join('_');
  return reported === name || (known.get(metric) ?? metric) === name ? (rank ?? plainRank) : undefined;
}

/** Names that stand for a criterion, for a person to read. */
export const exampleNames = (name: string): string[] => [
  name,
  `val_${name}`,
  ...(aliases[name] ?? []).slice(0, 2),
];
