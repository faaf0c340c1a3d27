import type { BatchControl, Submission } from '../aws/batch.ts';
import { derivedKey, newKey, openSealed, seal, UnopenableError } from '../core/encryption.ts';
import { errorName } from '../core/error-text.ts';
import type { Logger } from '../core/log.ts';
import type { Settings } from '../core/settings.ts';
import { reachesExport } from '../data/experiments/model-export.ts';
import { changeJob, jobPartition } from '../data/jobs/job.ts';
import { finalRank, rankOf } from '../data/jobs/job-status.ts';
import { type JobVariables, jobVariablesPurpose, putJobVariables } from '../data/jobs/job-variables.ts';
import {
  findVariablesKey,
  readVariables,
  type StoredVariable,
  secretPurpose,
} from '../data/projects/variable.ts';
import type { Condition } from '../data/table/condition.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/write-label.ts';
import { concludeJob } from './conclusion.ts';
import { lossesInRow, maxAttempts, maxLosses, retryRules } from './host-loss.ts';
import {
  batchNameOf,
  buildNameOf,
  isCompression,
  type JobRecord,
  jobIdOf,
  unfinishedJobOf,
} from './job-record.ts';
import { reasons } from './reasons.ts';
import { spotQueueOf } from './spot/capacity.ts';
import { LostSpotError, placedNow } from './spot/spot.ts';

/**
 * Submit a recorded job to Batch and note its id. If the caller dies at any point, the reconciler calls this
 * again. A job that Batch refuses for good becomes FAILED.
 * @param keys table that holds the key of secret variables; undefined if this process submits no trainings with
 * variables
 * @param claimant a process that neither recorded the job nor gave it its turn. It claims the submission, and searches Batch
 * for a job of the same name
 * @example
 * await submitJob(records, batch, settings, record, { now: now() }, keys);
 */
export async function submitJob(
  records: TableWriter<'records'>,
  batch: BatchControl,
  settings: Settings,
  record: JobRecord,
  claimant: Claimant | undefined,
  keys: TableReader<'accounts'> | undefined,
): Promise<void> {
  if (claimant !== undefined && !(await claimSubmission(records, record, claimant))) return;
  try {
    await submitAndNote(records, batch, settings, placedNow(record, settings), claimant === undefined, keys);
  } catch (error) {
    const reason = reasonOfRefusal(error);
    if (reason === undefined) throw error;
    await concludeJob(records, record, { status: 'FAILED', reason }, new Date());
  }
}

/**
 * Claim the next submission of a job that its recorder may have left: an event that comes twice, the reconciler and a
 * repeated request may all find it without one. Batch lists a job only some time after its submission, so a search by
 * its name does not keep them apart. The transaction that records a job, or gives it its turn, holds the first claim.
 * @returns false if another process submits it, or has done so
 */
function claimSubmission(
  records: TableWriter<'records'>,
  record: JobRecord,
  { now, aloneSince }: Claimant,
): Promise<boolean> {
  const { subject } = unfinishedJobOf(record);
  const at = (seconds: number) => new Date(now.getTime() + 1000 * seconds).toISOString();
  const unclaimed: Condition[] = [
    { absent: ['submitting_at'] },
    { below: { submitting_at: at(-submitGraceSeconds) } },
    // It was written before the clock was set back.
    { above: { submitting_at: at(submitGraceSeconds) } },
    ...(aloneSince === undefined ? [] : [{ below: { submitting_at: aloneSince.toISOString() } }]),
  ];
  const claim = changeJob(
    subject,
    { set: { submitting_at: at(0) } },
    { equals: { status: 'CREATED' }, any: unclaimed },
  );
  return tryWrite(records.write(claim));
}

/** A process that claims a submission. */
export interface Claimant {
  now: Date;
  /** Start of the only process that submits jobs: claims from before are void. */
  aloneSince?: Date | undefined;
}

/**
 * Seconds after which the function that recorded or claimed a job has submitted it or is dead. A request runs for at
 * most 29 s.
 */
export const submitGraceSeconds = 45;

async function submitAndNote(
  records: TableWriter<'records'>,
  batch: BatchControl,
  settings: Settings,
  record: JobRecord,
  isFirst: boolean,
  keys: TableReader<'accounts'> | undefined,
): Promise<void> {
  const handed = await handOverVariables(records, keys, record);
  const submission = submissionOf(record, settings, handed);
  const { former_attempts } = record;
  // A job that was submitted before has its environment.
  const isAnew = former_attempts !== undefined;
  // Batch would make the next attempt on Spot, too.
  if (record.capacity_type === 'spot') submission.retry = { attempts: 1, evaluateOnExit: retryRules };
  else if (isAnew) submission.retry = await retryOf(records, record, former_attempts);
  let depends_on = isAnew ? record.depends_on : null;
  if (!isAnew && needsBuildJob(record)) {
    const { name: _, nodes: __, ...rest } = submission;
    const first: Submission = {
      ...rest,
      ...settings.train,
      ...build,
      gpus: 0,
      name: buildNameOf(record),
      environment: { ...jobEnvironment(record, 'build'), ...handed },
    };
    depends_on = await submitOnce(batch, first, isFirst);
  }
  const batch_job_id = await submitOnce(
    batch,
    { ...submission, ...(depends_on !== null && !isAnew && { dependsOn: [depends_on] }) },
    isFirst,
  );
  const { subject } = unfinishedJobOf(record);
  const submitted = {
    status: 'SUBMITTED',
    status_rank: rankOf('SUBMITTED'),
    status_reason: reasons.submitted,
    batch_job_id,
    depends_on,
    ...(record.capacity_type !== undefined && { capacity_type: record.capacity_type }),
  };
  const write = changeJob(subject, { set: submitted }, { equals: { status: 'CREATED' } });
  const isNoted = await tryWrite(records.write(write));
  // An event has already updated the record. Only the id of the build may still be missing.
  if (!isNoted && depends_on !== null) await noteBuild(records, record, depends_on);
}

/** Let Batch make as many attempts as the job may still lose in a row. */
async function retryOf(
  records: TableReader<'records'>,
  record: JobRecord,
  former_attempts: number,
): Promise<Submission['retry']> {
  const left = maxLosses - (await lossesInRow(records, record, former_attempts));
  const attempts = Math.max(1, Math.min(left, maxLosses, maxAttempts - former_attempts));
  return { attempts, evaluateOnExit: retryRules };
}

/**
 * Copy the variables of the project of a training into the job's partition, encrypted under a key of this job
 * alone. Return the environment variables of the container, including the key. Return none if the project has no
 * variables. The call is idempotent: the key of a job is always the same. The transaction that ends the job
 * removes the copy. A job that has ended gets no copy.
 * @throws LostVariablesError
 */
export async function handOverVariables(
  records: TableWriter<'records'>,
  keys: TableReader<'accounts'> | undefined,
  record: JobRecord,
): Promise<Record<string, string>> {
  if (isCompression(record)) return {};
  const { variables } = await readVariables(records, record.project_id);
  const stored = record.model_export === undefined ? variables : variables.filter(isForExport);
  if (stored.length === 0) return {};
  if (keys === undefined)
    throw new Error('a training was submitted without the need for the key of variables');
  const key = await findVariablesKey(keys);
  const opened = openVariables(key, record.project_id, stored);
  const job_id = jobIdOf(record);
  const purpose = jobVariablesPurpose(job_id);
  // Without a key the project has no secrets, but every copy is encrypted.
  const jobKey = key === undefined ? newKey() : derivedKey(key, purpose);
  const sealed = seal(jobKey, JSON.stringify(opened), purpose);
  const copied = records.write(
    { check: unfinishedJobOf(record).subject, if: { below: { status_rank: finalRank } } },
    putJobVariables(jobPartition(job_id), sealed, new Date()),
  );
  // If the write fails, the job has ended, and its container stops at once.
  return (await tryWrite(copied)) ? { VARIABLES_KEY: jobKey.toString('base64url') } : {};
}

/** Whether an export gets a variable. */
export const isForExport = ({ name, sealed }: StoredVariable): boolean =>
  reachesExport({ name, isSecret: sealed !== null });

/** Decrypt stored variables. @throws LostVariablesError */
export function openVariables(
  key: Uint8Array | undefined,
  project_id: string,
  stored: readonly StoredVariable[],
): JobVariables {
  const lost: string[] = [];
  const openOne = (name: string, sealed: Uint8Array): string => {
    try {
      if (key !== undefined) return openSealed(key, sealed, secretPurpose(project_id, name));
    } catch (error) {
      if (!(error instanceof UnopenableError)) throw error;
    }
    lost.push(name);
    return '';
  };
  const opened = stored.map(({ name, value, sealed }) => ({
    name,
    value: sealed === null ? (value ?? '') : openOne(name, sealed),
    // Whether or not a project calls it a secret.
    secret: sealed !== null || name === 'HF_TOKEN',
  }));
  if (lost.length === 0) return opened;
  throw new LostVariablesError(
    `The secret variables ${lost.join(', ')} of the project can no longer be decrypted. Set their values again.`,
  );
}

/** The secrets of a project cannot be decrypted. The message is for the user who started the job. */
export class LostVariablesError extends Error {
  override readonly name = 'LostVariablesError';
}

/** Build the Batch submission of a record. */
function submissionOf(
  record: JobRecord,
  settings: Settings,
  handed: Readonly<Record<string, string>>,
): Submission {
  return {
    name: batchNameOf(record),
    ...queueOf(record, settings),
    environment: { ...jobEnvironment(record, 'run'), ...handed },
    vcpus: record.vcpus,
    memory: record.memory,
    gpus: record.gpus,
    nodes: isOnCluster(record) ? record.nodes : undefined,
    // Queues of a deployment are FIFO, and AWS refuses a share identifier there (see README).
    ...(settings.jobsRunAs === 'processes' && { share: record.user_id }),
    timeout: Math.max(minBatchTimeout, record.timeout + batchTimeoutSlack),
  };
}

/** Return the job queue and the job definition of a job. */
export function queueOf(record: JobRecord, settings: Settings): { queue: string; definition: string } {
  const spot = record.capacity_type === 'spot' ? spotQueueOf(record, settings) : undefined;
  const found = onDemandQueueOf(record, settings);
  return spot === undefined ? found : { ...found, queue: spot };
}

function onDemandQueueOf(record: JobRecord, settings: Settings): { queue: string; definition: string } {
  if (isCompression(record)) return settings[record.kind];
  const place = trainingPlace(record);
  const { env_type, dependencies } = record.environment;
  // A submission cannot change the image of a job definition, so each trusted image has its own.
  const own = env_type === 'docker' ? settings.trustedImages?.[dependencies.trim()]?.[place] : undefined;
  const { queue, definition } = settings[place];
  return {
    // CPU and GPU nodes have separate queues, so a CPU job never waits behind a GPU job.
    queue: place === 'cluster' && record.gpus > 0 ? settings.cluster.gpuQueue : queue,
    definition: own ?? definition,
  };
}

function trainingPlace(record: Pick<JobRecord, 'kind' | 'gpus'>): TrainingPlace {
  if (isOnCluster(record)) return 'cluster';
  return record.gpus > 0 ? 'gpu' : 'train';
}

/** Compute of a training: a Fargate container, a node with GPUs, or the nodes of a cluster. */
type TrainingPlace = 'train' | 'gpu' | 'cluster';

/** Whether a job is a multi-node parallel job of Batch. */
const isOnCluster = ({ kind }: Pick<JobRecord, 'kind'>): boolean => kind === 'train-remote';

const jobEnvironment = (record: JobRecord, phase: 'build' | 'run'): Record<string, string> => ({
  ...(isCompression(record)
    ? { STRATEGY_ID: record.strategy_id }
    : { PROJECT_ID: record.project_id, EXPERIMENT_ID: record.experiment_id, PHASE: phase }),
  ...(record.former_attempts !== undefined && { FORMER_ATTEMPTS: String(record.former_attempts) }),
});

/** Shortest timeout that Batch accepts, in seconds. */
const minBatchTimeout = 60;

/** Seconds added to the timeout for Batch. The supervisor ends the job first and reports the reason. */
const batchTimeoutSlack = 120;

/** Whether a separate Batch job must build the environment. Cluster nodes cannot reach a package registry. */
function needsBuildJob(record: JobRecord): boolean {
  if (record.kind !== 'train-remote') return false;
  const { env_type, dependencies } = record.environment;
  return (
    (env_type === 'python' || env_type === 'node') &&
    !['', '-', 'none'].includes(dependencies.trim().toLowerCase())
  );
}

/** Size and time of an environment's build. */
const build = { vcpus: 1, memory: 4096, timeout: 3600 };

/** Submit a Batch job, unless one of the same name exists from before a crash or a lost reply. */
async function submitOnce(batch: BatchControl, submission: Submission, isFirst: boolean): Promise<string> {
  const present = isFirst ? undefined : await batch.findByName(submission.queue, submission.name);
  return present ?? batch.submit(submission);
}

/** Record the id of the Batch job that builds the environment, unless the job has ended. */
export async function noteBuild(
  records: TableWriter<'records'>,
  record: JobRecord,
  depends_on: string,
): Promise<void> {
  await tryWrite(records.write(changeJob(unfinishedJobOf(record).subject, { set: { depends_on } })));
}

/** Return why a job can never be submitted. Return undefined for errors that a retry may avoid. */
function reasonOfRefusal(error: unknown): string | undefined {
  if (error instanceof LostVariablesError || error instanceof LostSpotError) return error.message;
  const isRefused = error instanceof Error && error.name === 'ClientException';
  return isRefused ? reasons.refused(error.message) : undefined;
}

/** Submit a recorded job as {@link submitJob} does. Never throw: the reconciler retries. */
export async function submitInRequest(
  record: JobRecord,
  { records, batch, keys, settings, now, log }: Submitting,
  isFirst: boolean,
): Promise<void> {
  try {
    await submitJob(records, batch, settings, record, isFirst ? undefined : { now: now() }, keys);
  } catch (error) {
    log.warn('submit-later', { job_id: jobIdOf(record), error: errorName(error) });
  }
}

interface Submitting {
  records: TableWriter<'records'>;
  batch: BatchControl;
  keys: TableReader<'accounts'>;
  settings: Settings;
  now(): Date;
  log: Logger;
}
