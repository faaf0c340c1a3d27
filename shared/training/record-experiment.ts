import { commandParams } from '../command/command-params.ts';
import { badRequest, notFound } from '../core/service-error.ts';
import { markNew } from '../data/experiments/catalogue-mark.ts';
import { keepCheckpoints } from '../data/experiments/continuation.ts';
import {
  type Experiment,
  emptyExperiment,
  putExperiment,
  requireExperiment,
} from '../data/experiments/experiment.ts';
import { foldNowAndThen } from '../data/experiments/fold-catalogue.ts';
import { type ExperimentFields, type Git, putFields } from '../data/experiments/tracking.ts';
import { newJobId, type TrainingKind } from '../data/jobs/job.ts';
import { putJobConfig } from '../data/jobs/job-config.ts';
import { defaultName } from '../data/projects/default-name.ts';
import { type Project, projectExists } from '../data/projects/project.ts';
import type { Upload } from '../data/projects/upload.ts';
import type { TableReader, TableWriter, Write } from '../data/table/table.ts';
import { type ConditionFailedError, WriteLabel } from '../data/table/write-label.ts';
import { configParams } from '../experiments/config-params.ts';
import { type Answering, answerExperiment } from '../experiments/experiment-answer.ts';
import { experimentNumber } from '../experiments/experiment-number.ts';
import type { Ambient, BegunBy } from '../http/definition/endpoint-context.ts';
import { type Admitted, admitJob, newJobFields, replayAdmitted, type Submitting } from '../jobs/admission.ts';
import { requireBudget } from '../jobs/budget.ts';
import type { JobSize } from '../jobs/size.ts';
import { capacityFault, possibleCapacity } from '../jobs/spot/capacity.ts';
import { rulesOfRun } from '../run-rules/recorded-rule.ts';
import type { RunRule } from '../run-rules/run-rule.ts';
import { requireCommandValues } from './command-values.ts';
import { parseStored } from './parse-stored.ts';

/** Services that record an experiment, its project, and the user for whom it counts. */
export type BeginContext = Pick<Ambient, 'now' | 'newId' | 'settings' | 'idempotencyWrites'> & {
  records: TableWriter<'records'>;
  project: Project;
  caller: BegunBy;
};

/** The inputs of a new experiment. They never change after it has begun. */
export type TrainingInputs = Pick<
  Experiment,
  | 'source_sha256'
  | 'source_size'
  | 'dataset'
  | 'dataset_sha256'
  | 'dataset_is_archive'
  | 'environment'
  | 'rerun_of'
  | 'overrides'
  | 'continues_from'
  | 'nodes'
  | 'timeout'
  | 'capacity'
  | 'model_export'
> &
  JobSize & {
    kind: TrainingKind;
    config_id: string;
    config_version: number;
    config_sha256: string;
    /** Bytes of the configuration. */
    content: Uint8Array;
    /** US dollars that it may cost; undefined without a budget of its own. */
    budget?: number | undefined;
    /** Its own rules, besides those of its project. */
    rules?: readonly RunRule[] | undefined;
    /** What its user says about it. */
    tracked?: Said | undefined;
    /** Commit of the source, if its client sent one. */
    git: Git | null;
  };

interface Said {
  name?: string | undefined;
  note?: string | undefined;
  tags?: Readonly<Record<string, string>> | undefined;
}

/** The fields of an experiment that name its data set; null without one. */
export const datasetFields = (dataset: Upload | undefined) => ({
  dataset: dataset?.name ?? null,
  dataset_sha256: dataset?.sha256 ?? null,
  dataset_is_archive: dataset !== undefined && dataset.format !== 'file',
});

/**
 * Record an experiment with these inputs.
 * @param begun what begins it: a sweep or a schedule, and what that adds
 * @throws ConditionFailedError if the condition {@link checkpointsKept} or that of what begins it fails
 */
export async function recordExperiment(
  inputs: TrainingInputs,
  context: BeginContext,
  begun?: BegunFor,
): Promise<Admitted<Experiment>> {
  const { records, project, newId, idempotencyWrites } = context;
  const experiment_id = await newJobId(records, newId());
  const experiment = {
    ...newExperiment(experiment_id, inputs, context),
    ...begun?.place,
  };
  requireBudget(experiment.budget, experiment, 'query', 'budget');
  const ofInputs = await trainingFields(records, experiment, inputs, begun?.name ?? inputs.tracked?.name);
  const fields = { ...ofInputs, params: { ...ofInputs.params, ...begun?.params } };
  const writesOf = (record: Experiment) => [
    projectExists(project.project_id),
    putExperiment(record),
    putJobConfig(experiment_id, inputs.content),
    putFields(project.project_id, experiment_id, fields, undefined),
    markNew(project.project_id, experiment_id),
    ...keepCheckpoints(record).map((write) => checkpointsKept.on(write)),
    ...idempotencyWrites(experiment_id),
    ...(begun?.writes(experiment_id) ?? []),
  ];
  const refusal = (error: ConditionFailedError) =>
    checkpointsKept.failedIn(error) || begun?.unchanged.failedIn(error)
      ? error
      : notFound('project', project.project_id);
  const admitted = await admitJob(experiment, writesOf, refusal, context);
  await foldNowAndThen(records, project.project_id, experiment_id);
  return admitted;
}

/** A run of a sweep or a schedule that is recorded as an experiment. */
interface BegunFor {
  place: Pick<Experiment, 'sweep' | 'schedule_id'>;
  name: string;
  /** Params that the configuration does not have. */
  params?: Readonly<Record<string, string>>;
  /** Label of the condition that what begins it has not changed since the read. */
  unchanged: WriteLabel;
  /** Return the writes of what begins it. They belong to the transaction that records the experiment. */
  writes(experiment_id: string): readonly Write[];
}

function newExperiment(
  experiment_id: string,
  { content: _, git: __, tracked: ___, budget, rules: own, ...inputs }: TrainingInputs,
  context: BeginContext,
): Experiment {
  const { kind, vcpus, memory, gpus, nodes, timeout, environment } = inputs;
  const { project_id, owner_id } = context.project;
  const rules = rulesOfRun(own, context.project.rules);
  // A sweep may be older than what the deployment has now. No run leaves Spot that may not.
  const message = inputs.capacity === 'spot' ? capacityFault('spot', inputs, context.settings) : undefined;
  if (message !== undefined) throw badRequest([{ in: 'query', name: 'capacity', message }]);
  const capacity = possibleCapacity(inputs.capacity, inputs, context.settings);
  const demand = {
    capacity,
    size: { vcpus, memory, gpus, nodes, timeout },
    isOnNodes: kind === 'train-remote' || gpus > 0,
    isImage: environment.env_type === 'docker',
  };
  return {
    ...emptyExperiment,
    ...newJobFields(experiment_id, demand, context),
    ...inputs,
    capacity,
    budget: budget ?? null,
    ...(rules.length > 0 && { rules }),
    experiment_id,
    project_id,
    cluster_owner: kind === 'train-remote' ? owner_id : null,
  };
}

/**
 * Return the name and params of a training before it begins. The name is that of the configuration, with a number.
 * Params are the configuration's values and the command's flags; a value of the configuration comes first.
 */
async function trainingFields(
  records: TableReader<'records'>,
  { project_id, created_at }: Pick<Experiment, 'project_id' | 'created_at'>,
  {
    config_id,
    content,
    git,
    environment,
    tracked,
  }: Pick<TrainingInputs, 'config_id' | 'content' | 'git' | 'environment' | 'tracked'>,
  name: string | undefined,
): Promise<ExperimentFields> {
  const [{ data }, number] = await Promise.all([
    parseStored(config_id, content),
    name === undefined ? experimentNumber(records, project_id) : 0,
  ]);
  const ofConfig = configParams(data);
  requireCommandValues(environment.entry_point_command, config_id, ofConfig);
  return {
    name: name ?? defaultName(config_id, number),
    note: tracked?.note ?? null,
    tags: { ...tracked?.tags },
    params: { ...commandParams(environment.entry_point_command, ofConfig), ...ofConfig },
    git,
    updated_at: created_at,
    version: 1,
  };
}

/**
 * Label of the condition that fails if the earlier experiment's checkpoints were deleted or changed after it was
 * read.
 */
export const checkpointsKept = new WriteLabel('checkpoints of the earlier experiment');

/** Functions that read and answer a recorded experiment. */
export const experimentAnswers = (context: Training) => ({
  read: (experiment_id: string) =>
    requireExperiment(context.records, context.project.project_id, experiment_id),
  answer: (experiment: Experiment) => answerExperiment(context, experiment),
});

/** Services and project of a request that trains. */
type Training = Submitting & Pick<Answering, 'accounts'> & { project: Project };

/** `Idempotency-Key` handling of every training. */
export const creatingExperiment = {
  kind: 'creates',
  table: 'records',
  replayCreated: (experiment_id: string, context: Training) =>
    replayAdmitted(experiment_id, experimentAnswers(context), context),
} as const;
