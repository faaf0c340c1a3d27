import { type MeasuredOn, readingsOf, readMetricName } from './metric-name.ts';

/**
 * Names that frameworks use for the metrics of the catalogue, in addition to its own names. They omit the data
 * that the metric was measured on:
 * - Keras: `acc`, `binary_accuracy`, `categorical_accuracy`, `sparse_categorical_accuracy`, `mean_squared_error`
 *   (keras.io/api/metrics)
 * - scikit-learn: `accuracy_score`, `f1_score`, `roc_auc_score`, `ndcg_score`, `jaccard_score`, `silhouette_score`
 *   (scikit-learn.org, "Metrics and scoring"); MLflow's autologging reports the same names
 * - timm and TorchVision: `top1`, `acc1` (their training scripts' logs)
 * - LightGBM and XGBoost: `auc`, `l1`, `l2`, `logloss`, `rmse` (the parameter `metric` or `eval_metric`)
 * - mmengine: `accuracy/top1`, `coco/bbox_mAP`; Detectron2: `bbox/AP` (their metrics' documentation)
 * - Ultralytics: `mAP50-95`, also of boxes `(B)`, masks `(M)` and poses `(P)` (docs.ultralytics.com, "Performance metrics")
 * - TorchMetrics: `mean_ap`, `jaccard_index`, `word_error_rate` (lightning.ai/docs/torchmetrics)
 * - Hugging Face Evaluate: `sacrebleu`, `rougeL` (huggingface.co/evaluate-metric); Stable-Baselines3:
 *   `ep_rew_mean`
 */
const aliases: Readonly<Record<string, readonly string[]>> = {
  accuracy: [
    'acc',
    'acc1',
    'top1',
    'top1_acc',
    'top1_accuracy',
    'accuracy_top1',
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
  map: [
    'mean_ap',
    'mean_average_precision',
    'map50_95',
    'map_50_95',
    'map50_95_b',
    'map50_95_m',
    'map50_95_p',
    'coco_bbox_map',
    'coco_segm_map',
    'bbox_ap',
    'segm_ap',
  ],
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

/** Remove the separators of a name. */
const joined = (name: string): string => name.replaceAll('_', '');

const known: ReadonlyMap<string, string> = new Map(
  Object.entries(aliases).flatMap(([name, others]) =>
    [name, ...others].map((other) => [joined(other), joined(name)] as const),
  ),
);

/** Return the metric of a name without separators: `f1score` and `macrof1` are `f1`. */
export const metricMeant = (metric: string): string => known.get(metric) ?? metric;

/**
 * Data by preference. Validation data come first. Test data are not meant for selection, but they are better than
 * unknown data. Training data come last, because they flatter the model.
 */
const dataRanks: readonly MeasuredOn[] = ['validation', 'test', null, 'training'];
const perData = 10;

/** Whether a rank of {@link metricRank} belongs to a metric of training data. */
export const isOfTraining = (rank: number): boolean => rank >= perData * dataRanks.indexOf('training');

/**
 * Rank a reported metric among the metrics that stand for a criterion. The lowest rank is the best. Return
 * undefined for another metric. Ignore case and separators; the words for the data may come before or after the
 * metric. If the criterion names its data, for example `train/loss`, accept only metrics of those data. If it is
 * not in the catalogue, its exact name ranks best, because a user chose it from the reported names.
 */
export function metricRank(reported: string, criterion: string): number | undefined {
  const metricName = readMetricName(criterion);
  const meant = metricMeant(metricName.metric);
  if (reported === criterion && !Object.hasOwn(aliases, criterion)) return -1;
  for (const { on, metric, ofStep } of readingsOf(reported)) {
    if (metric === '' || metricMeant(metric) !== meant) continue;
    if (metricName.on !== null && metricName.on !== on) continue;
    return perData * dataRanks.indexOf(on) + (metric === metricName.metric ? 0 : 2) + (ofStep ? 1 : 0);
  }
  return undefined;
}

/** Return example names that stand for a criterion, for messages. */
export function exampleNames(criterion: string): string[] {
  const { on, metric } = readMetricName(criterion);
  const catalogued = Object.keys(aliases).find((name) => joined(name) === metric && on === null);
  return catalogued === undefined ? [criterion] : [`val_${catalogued}`, catalogued];
}
