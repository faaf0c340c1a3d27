/**
 * What every server has of the runs that are searched, so that all search the same: as many metrics and params as
 * MLflow's autologging records, and the tags with which its client begins each run.
 */
export const metricNames = ['accuracy', 'loss', 'val_accuracy', 'val_loss', 'epoch_seconds'] as const;
export const paramNames = [
  'lr',
  'depth',
  'seed',
  'batch_size',
  'epochs',
  'optimizer',
  'momentum',
  'weight_decay',
  'dropout',
  'patience',
  'scheduler',
  'warmup_steps',
] as const;

/** Milliseconds. */
export const runTime = (index: number): number => 1_700_000_000_000 + index;
export const runValue = (index: number): number => Math.sin(index);
export const runParam = (index: number): string => String(index % 7);

/** Tag that stands for a run's name. */
export const nameTag = 'mlflow.runName';
export const runName = (index: number): string => `run ${index}`;

/** Tags that are the same in all runs. */
export const sharedTags = {
  'mlflow.user': 'bench',
  'mlflow.source.name': '/home/bench/train.py',
  'mlflow.source.type': 'LOCAL',
} as const;

export const commitTag = 'mlflow.source.git.commit';
/** Runs between two commits. */
export const runsOfCommit = 100;
/** A commit's name: forty hexadecimal digits. */
export const runCommit = (index: number): string =>
  Math.floor(index / runsOfCommit)
    .toString(16)
    .padStart(40, '0');
