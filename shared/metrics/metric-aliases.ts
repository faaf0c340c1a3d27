import { type MeasuredOn, readingsOf, readMetricName } from './metric-name.ts';

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
  chrf: [],
  cider: [],
  psnr: [],
  ssim: [],
  fid: [],
  eer: [],
  loss: ['logloss', 'log_loss', 'total_loss', 'nll', 'nll_loss'],
};

/** A name without its separators. */
const joined = (name: string): string => name.replaceAll('_', '');

const known: ReadonlyMap<string, string> = new Map(
  Object.entries(aliases).flatMap(([name, others]) =>
    [name, ...others].map((other) => [joined(other), joined(name)] as const),
  ),
);

/** The metric that a name without separators stands for: `f1score` and `macrof1` are `f1`. */
export const metricMeant = (metric: string): string => known.get(metric) ?? metric;

/**
 * Validation data come first. Test data are not for choosing, yet tell more than a metric that does not say on what it
 * was measured; and what training is measured on flatters it.
 */
const dataRanks: readonly MeasuredOn[] = ['validation', 'test', null, 'training'];
const perData = 10;

/** Whether a rank of {@link metricRank} is that of a metric of the training data. */
export const isOfTraining = (rank: number): boolean => rank >= perData * dataRanks.indexOf('training');

/**
 * Rank of a reported metric among those that stand for a criterion, the least the best; undefined where it is another
 * metric. Case and separators do not matter, and the words for the data may stand on either side. A criterion that names
 * its data, such as `train/loss`, is met by metrics of those data alone. One that is no name of the catalogue is met best
 * by exactly its own name: somebody chose it among those that were reported.
 */
export function metricRank(reported: string, criterion: string): number | undefined {
  const wanted = readMetricName(criterion);
  const meant = metricMeant(wanted.metric);
  if (reported === criterion && !Object.hasOwn(aliases, criterion)) return -1;
  for (const { on, metric, ofStep } of readingsOf(reported)) {
    if (metric === '' || metricMeant(metric) !== meant) continue;
    if (wanted.on !== null && wanted.on !== on) continue;
    return perData * dataRanks.indexOf(on) + (metric === wanted.metric ? 0 : 2) + (ofStep ? 1 : 0);
  }
  return undefined;
}

/** Names that stand for a criterion, for a person to read. */
export function exampleNames(criterion: string): string[] {
  const { on, metric } = readMetricName(criterion);
  const catalogued = Object.keys(aliases).find((name) => joined(name) === metric && on === null);
  return catalogued === undefined ? [criterion] : [`val_${catalogued}`, catalogued];
}
