import type { Program } from './program.ts';

/** One list for all small scripts. None of them names wandb itself, so the service's module takes its place. */
const small = ['numpy', 'pandas', 'scikit-learn', 'matplotlib', 'seaborn', 'plotly', 'tqdm', 'xgboost'];

const example = (
  folder: string,
  command: string,
  expected: Pick<Program, 'curves' | 'metrics' | 'minFiles'>,
  more: Partial<Program> = {},
): Program => ({
  name: `wandb ${folder}${/(?:train|main|run)\.py/.test(command) ? '' : ` ${command.split(' ')[1]}`}`,
  kind: 'wandb',
  from: { repository: 'wandb/examples' },
  folder: `examples/${folder}`,
  packages: small,
  isOnce: true,
  command: command.split(' '),
  ...expected,
  ...more,
});

/** What `wandb.sklearn.plot_classifier` records: four numbers, and tables and pictures of five charts at least. */
const classifier = { metrics: ['accuracy_score', 'precision', 'recall', 'f1_score'], minFiles: 10 };

/** Scripts that say `import wandb`, without wandb, a key or an account. */
export const wandbScripts: readonly Program[] = [
  example('wandb-log', 'python sqrt.py 2', { curves: ['Approx. Sqrt2'] }),
  example('api-examples/resume', 'python train.py --num_epochs 2', { curves: ['loss', 'acc'] }),
  example('api-examples/group-and-resume', 'python train.py --group_id a', { curves: ['loss', 'train/acc'] }),
  example('api-examples/metrics-at-different-steps', 'python train.py --max_epochs 6 --validate_every 2', {
    curves: ['loss', 'val_acc'],
  }),
  example('api-examples/plotly', 'python run.py', { minFiles: 1 }),
  example('machine-learning/matplotlib', 'python mpl.py', { minFiles: 1 }),
  example('scikit/scikit-iris', 'python train.py', {
    metrics: ['Train Accuracy', 'Test Accuracy'],
    minFiles: 1,
  }),
  example('scikit/scikit-iris', 'python binary_classification.py', { minFiles: 2 }),
  example('scikit/scikit-iris', 'python clustering.py', { metrics: ['silhouette_avg'], minFiles: 4 }),
  example('scikit/scikit-classification', 'python train.py', classifier),
  example('scikit/scikit-classification', 'python binary_classification.py', classifier),
  example('scikit/scikit-clustering', 'python train.py', { metrics: ['silhouette_avg'], minFiles: 4 }),
  example('scikit/scikit-tweets', 'python classifier.py', { minFiles: 8 }),
  example('wandb-sweeps/sweeps-boolean-parameters', 'python train-bool.py --flag1 true', {
    metrics: ['metric'],
  }),
  example('wandb-sweeps/sweeps-cross-validation', 'python train-cross-validation.py', {
    metrics: ['val_accuracy'],
  }),
  example('boosting-algorithms/xgboost-dermatology', 'python train.py', {
    curves: ['train-mlogloss', 'test-mlogloss'],
    metrics: ['Error Rate'],
    minFiles: 2,
  }),
];
