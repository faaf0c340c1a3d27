import type { Experiment } from '../../shared/data/experiment.ts';
import type { Project } from '../../shared/data/project.ts';

/** A criterion by which experiments are ranked. */
interface Criterion {
  /** Name under which a run reports it among its metrics. */
  name: string;
  goal: 'maximize' | 'minimize';
  /** Tasks that it suits; a task is ranked by the first criterion of the catalogue that lists it. */
  tasks: readonly string[];
  description: string;
}

const maximize = (name: string, tasks: readonly string[], description: string): Criterion => ({
  name,
  goal: 'maximize',
  tasks,
  description,
});
const minimize = (name: string, tasks: readonly string[], description: string): Criterion => ({
  name,
  goal: 'minimize',
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
const regression = ['regression', 'tabular-regression', 'depth-estimation'];
const forecasting = ['forecasting', 'time-series-forecasting'];
const segmentation = ['segmentation', 'semantic-segmentation', 'image-segmentation'];
const detection = ['object-detection', 'instance-segmentation', 'keypoint-detection', 'pose-estimation'];
const translation = ['translation', 'machine-translation'];
const languageModeling = ['language-modeling', 'text-generation', 'masked-language-modeling', 'fill-mask'];
const speech = ['speech-recognition', 'automatic-speech-recognition'];
const retrieval = ['ranking', 'recommendation', 'information-retrieval', 'retrieval'];
const restoration = ['super-resolution', 'denoising', 'image-restoration'];
const generation = ['image-generation', 'image-synthesis'];

const loss = minimize(
  'loss',
  [],
  'What training itself minimizes, on the validation data; judges every task that no other criterion lists',
);

/** The catalogue; within the criteria of a task, the usual one first. */
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
  minimize('perplexity', languageModeling, 'Exponential of the mean loss for each token'),
  maximize('silhouette', ['clustering'], 'How much closer points are to their own cluster than to the next'),
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

const normal = (task: string): string =>
  task
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '-');

const byTask: ReadonlyMap<string, Criterion> = new Map(
  criteria.toReversed().flatMap((criterion) => criterion.tasks.map((task) => [task, criterion] as const)),
);

/**
 * The criterion by which the experiments of a task are ranked. Case does not matter, and spaces and underscores are
 * hyphens; an unknown task is ranked by its loss.
 */
function criterionForTask(task: string): Pick<Criterion, 'name' | 'goal'> {
  const { name, goal } = byTask.get(normal(task)) ?? loss;
  return { name, goal };
}

/** Direction of a metric of the catalogue; undefined for other metrics. */
export const goalInCatalogue = (name: string): Criterion['goal'] | undefined =>
  criteria.find((one) => one.name === name)?.goal;

/** The criterion by which a project's experiments are ranked: the one that it names, else that of its task. */
export function criterionOf({
  project_task,
  criterion,
}: Pick<Project, 'project_task' | 'criterion'>): Experiment['criterion'] {
  if (criterion === undefined) return criterionForTask(project_task);
  // What the catalogue has is known by other names, too, whoever names it.
  return goalInCatalogue(criterion.name) === criterion.goal ? criterion : { ...criterion, own: true };
}
