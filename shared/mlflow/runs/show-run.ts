import type { DatasetInput, ExperimentFields, ModelLink } from '../../data/experiments/tracking.ts';
import type { JobStatus } from '../../data/jobs/job-status.ts';
import type { MetricSummary } from '../../data/metrics/metric-summary.ts';
import { noteTag } from '../projects/show-experiment.ts';
import { artifactUriOf, type RunKey, runIdOf } from '../protocol/ids.ts';
import { pairsOf, shownDouble, shownStep } from '../protocol/scalars.ts';

/** Show an experiment in MLflow's format: as a run. */
export const showRun = (
  source: RunSource,
  links?: Pick<ExperimentFields, 'datasets' | 'models_read' | 'models_made'>,
): object => ({
  info: showInfo(source),
  data: {
    metrics: Array.from(source.metrics, ([name, summary]) => showMetric(name, summary)),
    params: pairsOf(source.params),
    tags: pairsOf(tagsOfRun(source)),
  },
  inputs: {
    dataset_inputs: (links?.datasets ?? []).map(showDataset),
    model_inputs: (links?.models_read ?? []).map(({ model_id }: ModelLink) => ({ model_id })),
  },
  outputs: { model_outputs: links?.models_made ?? [] },
});

/** Fields of an experiment that a run shows, from a single read or from a search. */
export interface RunSource extends RunKey {
  status: JobStatus;
  created_at: string;
  started_at: string | null;
  stopped_at: string | null;
  name: string;
  note: string | null;
  isDeleted: boolean;
  tags: Readonly<Record<string, string>>;
  params: Readonly<Record<string, string>>;
  metrics: Iterable<readonly [string, MetricSummary]>;
}

export function showInfo(source: RunSource): object {
  const { status, name, tags, isDeleted, started_at, created_at, stopped_at } = source;
  const run_id = runIdOf(source);
  return {
    run_id,
    run_uuid: run_id,
    run_name: name,
    experiment_id: source.project_id,
    user_id: tags[userTag] ?? '',
    status: runStatusOf(status),
    start_time: Date.parse(started_at ?? created_at),
    ...(stopped_at !== null && { end_time: Date.parse(stopped_at) }),
    artifact_uri: artifactUriOf(source),
    lifecycle_stage: isDeleted ? 'deleted' : 'active',
  };
}

export const userTag = 'mlflow.user';

/** MLflow's name for a status. A training that does not run yet is scheduled. */
export const runStatusOf = (status: JobStatus): RunStatus => ended[status] ?? 'SCHEDULED';

type RunStatus = 'RUNNING' | 'SCHEDULED' | 'FINISHED' | 'FAILED' | 'KILLED';

const ended: Partial<Record<JobStatus, RunStatus>> = {
  RUNNING: 'RUNNING',
  SUCCEEDED: 'FINISHED',
  FAILED: 'FAILED',
  CANCELLED: 'KILLED',
};

export const showMetric = (name: string, { last, time, step }: MetricSummary): object => ({
  key: name,
  value: shownDouble(last),
  timestamp: time,
  step: shownStep(step),
});

/** Tags in MLflow's format, which stores name and note as tags. */
export const tagsOfRun = ({
  tags,
  name,
  note,
}: Pick<RunSource, 'tags' | 'name' | 'note'>): Record<string, string> => ({
  ...tags,
  [runNameTag]: name,
  ...(note !== null && { [noteTag]: note }),
});

export const runNameTag = 'mlflow.runName';

/** Searches leave out texts that are stored apart: the rows of one would have gigabytes. */
const showDataset = ({ tags, texts: _, ...dataset }: DatasetInput): object => ({
  tags: pairsOf(tags),
  dataset,
});

export const parentTag = 'mlflow.parentRunId';
