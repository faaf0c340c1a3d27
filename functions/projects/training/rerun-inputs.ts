import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Capacity } from '../../../shared/core/capacity/capacity.ts';
import { badRequest, notFound, ServiceError } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import { type Experiment, findExperiment } from '../../../shared/data/experiments/experiment.ts';
import { findFields } from '../../../shared/data/experiments/tracking.ts';
import type { TrainingKind } from '../../../shared/data/jobs/job.ts';
import { readJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { findConfig, readConfigContent } from '../../../shared/data/projects/config.ts';
import { Overrides } from '../../../shared/data/projects/environment-rules.ts';
import { inexactMessage } from '../../../shared/data/projects/exact-number.ts';
import { findDataset } from '../../../shared/data/projects/upload.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { isFargateSize } from '../../../shared/jobs/fargate-sizes.ts';
import { allowedSize, fargateSize, type JobSize, nodeSize } from '../../../shared/jobs/size.ts';
import { overrideContent } from '../../../shared/training/override-content.ts';
import { datasetFields, type TrainingInputs } from '../../../shared/training/record-experiment.ts';
import { changedCommand, splitOverrides } from './rerun-command.ts';

/**
 * Return the inputs of an experiment that repeats an earlier one with some changes.
 * @throws ServiceError 400 for changes that are not allowed, 404 for a missing configuration or data set, 409
 * while the earlier one has not ended
 */
export async function rerunInputs(
  records: TableReader<'records'>,
  recorded: Experiment,
  changes: RerunChanges,
  settings: Settings,
): Promise<TrainingInputs> {
  const earlier = requireTrained(recorded);
  const { project_id, kind } = earlier;
  if (kind === 'train' && (changes.nodes ?? 1) !== 1)
    throw badRequest([
      { in: 'query', name: 'nodes', message: 'must be 1: the experiment ran on one machine' },
    ]);
  const nodes = changes.nodes ?? earlier.nodes;
  const timeout = changes.timeout ?? Math.min(earlier.timeout, settings.limits.jobSeconds);
  const { gpus = earlier.gpus, capacity } = changes;
  const demand = { kind, timeout, nodes, gpus, capacity, usual: earlier.capacity };
  const size = allowedSize(() => sizeOf(earlier, changes, settings), demand, settings);
  if (!isFinal(earlier.status)) {
    throw new ServiceError(
      'conflict',
      `The experiment is ${earlier.status}. Wait for its end, or cancel it first.`,
    );
  }
  const [{ entry_point_command, ...config }, dataset, fields, continues_from] = await Promise.all([
    configOf(records, earlier, changes),
    changes.dataset === undefined ? undefined : findDataset(records, project_id, changes.dataset),
    findFields(records, project_id, earlier.experiment_id),
    changes.fresh === true ? null : originOf(records, earlier),
  ]);
  if (changes.dataset !== undefined && dataset === undefined) throw notFound('data set', changes.dataset);
  const { source_sha256, source_size, dataset: name, dataset_sha256, dataset_is_archive } = earlier;
  return {
    kind,
    ...size,
    nodes,
    timeout,
    ...config,
    source_sha256,
    source_size,
    ...(dataset === undefined
      ? { dataset: name, dataset_sha256, dataset_is_archive }
      : datasetFields(dataset)),
    environment: { ...earlier.environment, entry_point_command },
    rerun_of: earlier.experiment_id,
    continues_from,
    git: fields?.git ?? null,
  };
}

/** Changes of a rerun. Absent fields keep the value of the earlier experiment. */
interface RerunChanges {
  command?: string | undefined;
  config?: string | undefined;
  overrides?: z.infer<typeof Overrides> | undefined;
  dataset?: string | undefined;
  vcpus?: number | undefined;
  memory?: number | undefined;
  gpus?: number | undefined;
  nodes?: number | undefined;
  timeout?: number | undefined;
  capacity?: Capacity | undefined;
  fresh?: boolean | undefined;
}

/** @throws ServiceError `conflict` for an experiment that a client recorded */
function requireTrained(experiment: Experiment): Trained {
  const { kind, config_id, config_version, model_export } = experiment;
  if (model_export !== undefined)
    throw new ServiceError(
      'conflict',
      'The experiment exported a model. Export it again with POST /optimization/exports.',
    );
  if (kind !== 'logged' && config_id !== null && config_version !== null)
    return { ...experiment, kind, config_id, config_version };
  throw new ServiceError(
    'conflict',
    'The experiment was recorded by a client, so this service cannot run it.',
  );
}

/** An experiment that this service trained. */
type Trained = Experiment & { kind: TrainingKind; config_id: string; config_version: number };

/** Return the size of a node. A field that the request omits comes from the earlier experiment. */
function sizeOf(earlier: Trained, changes: RerunChanges, settings: Settings): JobSize {
  const gpus = changes.gpus ?? earlier.gpus;
  const isSame = gpus === earlier.gpus;
  const memory = changes.memory ?? (changes.vcpus === undefined && isSame ? earlier.memory : undefined);
  const vcpus = changes.vcpus ?? earlier.vcpus;
  if (earlier.kind === 'train-remote' || gpus > 0) return nodeSize({ vcpus, memory, gpus }, settings);
  // If the memory is too large for the vCPUs, raise the vCPUs, unless the request sets them.
  const isOffered = memory === undefined || isFargateSize({ vcpus, memory });
  return fargateSize({ vcpus: changes.vcpus ?? (isOffered ? vcpus : undefined), memory });
}

/**
 * Return the configuration and the command with overrides applied: the earlier experiment's own copy of the
 * configuration, or the named one.
 */
async function configOf(records: TableReader<'records'>, earlier: Trained, changes: RerunChanges) {
  const { project_id, experiment_id } = earlier;
  const named = changes.config;
  const config = named === undefined ? earlier : await findConfig(records, project_id, named);
  if (config === undefined) throw notFound('config', named ?? '');
  const { config_id } = config;
  const stored =
    'experiment_id' in config
      ? await readJobConfig(records, experiment_id)
      : await readConfigContent(records, config);
  if (stored === undefined) throw notFound('config', config_id);
  const before = 'experiment_id' in config ? earlier.overrides : null;
  const version = 'experiment_id' in config ? config.config_version : config.version;
  const { overrides } = changes;
  const command = changes.command ?? earlier.environment.entry_point_command;
  const split =
    overrides === undefined
      ? { config: {}, flags: {} }
      : await splitOverrides(overrides, command, { config_id, content: stored });
  const entry_point_command = changedCommand(command, changes.command !== undefined, split.flags);
  const content =
    Object.keys(split.config).length === 0 ? stored : await overrideContent(config_id, stored, split.config);
  return {
    config_id,
    config_version: version,
    config_sha256: createHash('sha256').update(content).digest('hex'),
    overrides: overrides === undefined ? before : { ...before, ...overrides },
    content,
    entry_point_command,
  };
}

/**
 * Return the experiment whose checkpoints the new one starts from: the earlier one, or the nearest one in its
 * chain of continuations that stored checkpoints.
 */
async function originOf(records: TableReader<'records'>, earlier: Experiment): Promise<string | null> {
  let origin: Experiment | undefined = earlier;
  for (let step = 0; step < maxChain && origin !== undefined; step += 1) {
    if (origin.checkpoints > 0) return origin.experiment_id;
    if (origin.continues_from === null) return null;
    origin = await findExperiment(records, earlier.project_id, origin.continues_from);
  }
  return null;
}

/** Maximum number of reruns without checkpoints to follow back. */
const maxChain = 20;

/** Values of a configuration or of flags to replace, as a JSON object. */
export const overridesParameter = z
  .string()
  .transform((text, context) => {
    const parsed = Overrides.safeParse(tryParseJson(text));
    if (parsed.success) return parsed.data;
    const isInexact = parsed.error.issues.some((issue) => issue.message === inexactMessage);
    context.addIssue({ code: 'custom', message: isInexact ? inexactMessage : message });
    return z.NEVER;
  })
  .optional();

const message =
  'must be a JSON object of paths or flags and single values, such as {"optimizer.lr":0.003} or {"--lr":0.003}';
