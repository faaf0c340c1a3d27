import { metricMeant, metricRank } from './metric-aliases.ts';
import { readMetricName } from './metric-name.ts';
import { isSystemMetric } from './system-metric.ts';

const maximize = (name: string, tasks: readonly string[], description: string): Criterion => ({
  name,
  goal: 'maximize',
  tasks,
  description,
});

const classification = [
  'classification',
  'binary-classification',
  'multiclass-classification',
  'image-classification',
  'text-classification',
  'audio-classification',
  'video-classification',
  'tabular-classification',
  'sentiment-analysis',
];
const labelling = ['multilabel-classification', 'token-classification', 'named-entity-recognition'];
const imbalanced = ['anomaly-detection', 'fraud-detection', 'outlier-detection'];

const retrieval = ['ranking', 'recommendation', 'information-retrieval', 'retrieval'];

const minimize = (name: string, tasks: readonly string[], description: string): Criterion => ({
  name,
  goal: 'minimize',
  tasks,
  description,
});

const regression = ['regression', 'tabular-regression', 'depth-estimation'];
const forecasting = ['forecasting', 'time-series-forecasting'];

const detection = ['object-detection', 'instance-segmentation', 'keypoint-detection', 'pose-estimation'];

const segmentation = ['segmentation', 'semantic-segmentation', 'image-segmentation'];

const translation = ['translation', 'machine-translation'];

const speech = ['speech-recognition', 'automatic-speech-recognition'];

const languageModeling = ['language-modeling', 'text-generation', 'masked-language-modeling', 'fill-mask'];

const restoration = ['super-resolution', 'denoising', 'image-restoration'];
const generation = ['image-generation', 'image-synthesis'];

const loss = minimize(
  'loss',
  [],
  'Loss on validation data; ranks experiments if neither the project, its task nor its first run gives another criterion',
);

/** Catalogue of criteria. Of the criteria of a task, the usual one comes first. */
export const criteria: readonly Criterion[] = [
  maximize('accuracy', classification, 'Share of examples whose predicted class is the true one'),
  maximize(
    'f1',
    [...labelling, ...classification, ...imbalanced],
    'Harmonic mean of precision and recall, averaged over the classes',
  ),
  maximize(
    'roc_auc',
    [...imbalanced, 'binary-classification', 'classification'],
    'Area under the receiver operating characteristic: the chance that a positive example scores above a negative one',
  ),
  maximize('ndcg', retrieval, 'Normalized discounted cumulative gain: how high relevant results are ranked'),
  maximize(
    'precision',
    [...classification, ...labelling, ...imbalanced],
    'Share of the positive predictions that are right',
  ),
  maximize(
    'recall',
    [...classification, ...labelling, ...imbalanced, ...retrieval],
    'Share of the positive examples that are found',
  ),
  minimize('rmse', regression, 'Root of the mean squared error, in the unit of the target'),
  minimize('mae', [...forecasting, ...regression], 'Mean absolute error, in the unit of the target'),
  minimize('mse', [...regression, ...forecasting], 'Mean squared error'),
  minimize('mape', forecasting, 'Mean absolute percentage error'),
  maximize('r2', regression, 'Coefficient of determination: the share of variance that is explained'),
  maximize(
    'map',
    detection,
    'Mean average precision over the classes, for detection also over thresholds of overlap',
  ),
  maximize(
    'miou',
    segmentation,
    'Intersection over union of predicted and true areas, mean over the classes',
  ),
  maximize('iou', [...segmentation, ...detection], 'Intersection over union of predicted and true areas'),
  maximize('dice', segmentation, 'Twice the overlap of predicted and true areas over their sum'),
  maximize('bleu', translation, 'Overlap of n-grams with reference translations, with a penalty for brevity'),
  maximize('chrf', translation, 'F-score of character n-grams against reference translations'),
  maximize('rouge', ['summarization'], 'Recall-oriented overlap of n-grams with reference summaries'),
  maximize('cider', ['image-captioning'], 'Consensus of a caption with the captions that people gave'),
  maximize(
    'exact_match',
    ['question-answering'],
    'Share of questions whose answer is exactly a reference answer',
  ),
  minimize('wer', speech, 'Word error rate: words substituted, left out or added per word of the reference'),
  minimize(
    'cer',
    ['optical-character-recognition', 'ocr', ...speech],
    'Character error rate: characters substituted, left out or added per character of the reference',
  ),
  minimize('perplexity', languageModeling, 'Exponential of the mean loss per token'),
  maximize(
    'silhouette',
    ['clustering'],
    'How much closer points are to their own cluster than to the nearest other one',
  ),
  maximize('psnr', restoration, 'Peak signal-to-noise ratio, in decibels'),
  maximize('ssim', restoration, 'Structural similarity to the reference image'),
  minimize('fid', generation, 'Fréchet distance between the features of generated and of real images'),
  minimize(
    'eer',
    ['speaker-verification'],
    'Equal error rate: where false acceptances equal false rejections',
  ),
  maximize(
    'episode_return',
    ['reinforcement-learning'],
    'Mean sum of rewards over an episode of the evaluation',
  ),
  loss,
];

/** Criterion that ranks experiments. */
interface Criterion {
  /** Name of the metric that a run reports for it. */
  name: string;
  goal: 'maximize' | 'minimize';
  /** Tasks that it suits. A task uses the first criterion of the catalogue that lists it. */
  tasks: readonly string[];
  description: string;
}

/** Metric and direction that rank the experiments of a project. */
export interface JudgedBy {
  name: string;
  goal: Criterion['goal'];
}

/**
 * A project's criterion and its source: the project, its task, the first run that reported a metric, or the
 * default.
 */
export interface ProjectCriterion extends JudgedBy {
  source: 'project' | 'task' | 'first-run' | 'default';
}

/** Return the direction of a catalogue metric, by any of its names. Return undefined for other metrics. */
export const goalInCatalogue = (name: string): Criterion['goal'] | undefined => catalogued(name)?.goal;

/** Return the catalogue criterion of a name, on any data. Return undefined for other metrics. */
const catalogued = (name: string): Criterion | undefined =>
  byMetric.get(metricMeant(readMetricName(name).metric));

const joined = (name: string): string => name.replaceAll('_', '');

const byMetric: ReadonlyMap<string, Criterion> = new Map(criteria.map((one) => [joined(one.name), one]));

/**
 * Return the direction of a metric from the catalogue, or the usual direction of such names. Return undefined for
 * others, for example a learning rate.
 */
export const usualGoal = (name: string): Criterion['goal'] | undefined =>
  goalInCatalogue(name) ??
  (minimized.test(name) ? 'minimize' : maximized.test(name) ? 'maximize' : undefined);

const minimized = /(?:^|[^a-z0-9])(?:loss|error|err|nll|rmse|mse|mae|mape|latency|perplexity)$/i;
const maximized = /(?:^|[^a-z0-9])(?:accuracy|acc|precision|recall|auc|auroc|f1|iou|score|reward)$/i;

/**
 * Return whether a higher or a lower value of a metric is better. Use the project's criterion if the metric stands
 * for it, otherwise the name. Return undefined for others, for example a learning rate.
 */
export const metricGoal = (name: string, judge: JudgedBy | undefined): Criterion['goal'] | undefined =>
  judge !== undefined && metricRank(name, judge.name) !== undefined ? judge.goal : usualGoal(name);

/**
 * Derive a criterion from the metrics of a run. Choose the first of the catalogue, where the loss comes last.
 * Without a catalogue metric, choose the first name with a usual direction. Choose metrics of training data only
 * if the run has no others. Return undefined if no metric measures success.
 */
export function criterionOfMetrics(names: Iterable<string>): JudgedBy | undefined {
  let found: { place: number; name: string; goal: Criterion['goal'] } | undefined;
  for (const reported of names) {
    const criterion = catalogued(reported);
    const goal = criterion?.goal ?? usualGoal(reported);
    if (goal === undefined || isSystemMetric(reported)) continue;
    const { on, metric } = readMetricName(reported);
    const ofTraining = on === 'training' ? 1 : 0;
    const place =
      (criterion === undefined ? criteria.length : criteria.indexOf(criterion)) +
      ofTraining * (criteria.length + 1);
    // A later run that reports the metric on validation data is ranked by these.
    const name = criterion?.name ?? (ofTraining ? metric : reported);
    if (found === undefined || place < found.place || (place === found.place && name < found.name))
      found = { place, name, goal };
  }
  return found && { name: found.name, goal: found.goal };
}

/**
 * Return the criterion that ranks a project's experiments: its own, else the one of its task, else the one of its
 * first run, else the loss. Tasks are case-insensitive, and spaces and underscores count as hyphens.
 */
export function criterionOf(
  { project_task, criterion }: { project_task: string; criterion?: JudgedBy | undefined },
  first?: JudgedBy,
): ProjectCriterion {
  if (criterion !== undefined) return { ...criterion, source: 'project' };
  const ofTask = byTask.get(normal(project_task));
  if (ofTask !== undefined) return { name: ofTask.name, goal: ofTask.goal, source: 'task' };
  if (first !== undefined) return { name: first.name, goal: first.goal, source: 'first-run' };
  return { name: loss.name, goal: loss.goal, source: 'default' };
}

const byTask: ReadonlyMap<string, Criterion> = new Map(
  criteria.toReversed().flatMap((criterion) => criterion.tasks.map((task) => [task, criterion] as const)),
);

const normal = (task: string): string =>
  task
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '-');
