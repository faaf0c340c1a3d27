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

/** Tag that stands for a run's name. */
export const nameTag = 'mlflow.runName';

/** Tags that are the same in all runs. */
export const sharedTags = {
  'mlflow.user': 'bench',
  'mlflow.source.name': '/home/bench/train.py',
  'mlflow.source.type': 'LOCAL',
} as const;

/** Tag of the commit, whose name has forty hexadecimal digits. */
export const commitTag = 'mlflow.source.git.commit';
/** Runs between two commits. */
export const runsOfCommit = 100;

interface SearchedRun {
  name: string;
  /** Milliseconds. */
  time: number;
  /** Of each metric. */
  value: number;
  params: Readonly<Record<string, string>>;
  /** Without the one that stands for its name. */
  tags: Readonly<Record<string, string>>;
}

export function searchedRun(index: number): SearchedRun {
  const commit = Math.floor(index / runsOfCommit);
  return {
    name: `run ${index}`,
    time: runTime(index),
    value: Math.sin(index),
    params: Object.fromEntries(paramNames.map((name) => [name, String(index % 7)])),
    tags: { ...sharedTags, [commitTag]: commit.toString(16).padStart(40, '0') },
  };
}
