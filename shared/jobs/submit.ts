import type { BatchControl, Submission } from '../aws/batch.ts';
import type { Settings } from '../core/settings.ts';
import { changeJob } from '../data/jobs/job.ts';
import { rankOf } from '../data/jobs/job-status.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/try-write.ts';
import { concludeJob } from './conclude.ts';
import { handOverVariables, LostVariablesError } from './hand-over-variables.ts';
import { noteBuild } from './note-build.ts';
import { isOnCluster, queueOf } from './queue-of.ts';
import { batchNameOf, buildNameOf, isStrategy, type JobRecord, unfinishedJobOf } from './subject.ts';

/** Seconds by which the timeout at Batch is longer: the supervisor ends the job before, and reports why. */
const batchTimeoutSlack = 120;
/** Shortest timeout that Batch accepts, in seconds. */
const minBatchTimeout = 60;
/** Size and time of an environment's build. */
const build = { vcpus: 1, memory: 4096, timeout: 3600 };

/** Whether a Batch job of its own must build the environment: cluster nodes reach no package registry. */
function needsBuildJob(record: JobRecord): boolean {
  if (record.kind !== 'train-remote') return false;
  const { env_type, dependencies } = record.environment;
  return (
    (env_type === 'python' || env_type === 'node') &&
    !['', '-', 'none'].includes(dependencies.trim().toLowerCase())
  );
}

const jobEnvironment = (record: JobRecord, phase: 'build' | 'run'): Record<string, string> =>
  isStrategy(record)
    ? { STRATEGY_ID: record.strategy_id }
    : { PROJECT_ID: record.project_id, EXPERIMENT_ID: record.experiment_id, PHASE: phase };

/** The Batch job of a record. */
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
    // Queues of a deployment are first in, first out: AWS refuses a share there (see README).
    ...(settings.jobsRunAs === 'processes' && { share: record.user_id }),
    timeout: Math.max(minBatchTimeout, record.timeout + batchTimeoutSlack),
  };
}

/** Submit a Batch job, unless one of its name exists: it was submitted before a crash or a lost reply. */
async function submitOnce(batch: BatchControl, submission: Submission, isFirst: boolean): Promise<string> {
  const present = isFirst ? undefined : await batch.findByName(submission.queue, submission.name);
  return present ?? batch.submit(submission);
}

/** Why a job can never be submitted; undefined for errors that another try may not meet. */
function reasonOfRefusal(error: unknown): string | undefined {
  if (error instanceof LostVariablesError) return error.message;
  const isRefused = error instanceof Error && error.name === 'ClientException';
  return isRefused ? `The job queue refused the job: ${error.message}` : undefined;
}

/**
 * Submit a recorded job to Batch and note its id. If the caller dies at any point, the reconciler calls this again. A job
 * that Batch refuses for good becomes FAILED.
 * @param keys where the key of secret variables is; undefined where trainings with variables are left to others
 * @param isFirst whether this is certainly the first submission, so that no job of its name has to be looked up
 * @example
 * await submitJob(records, batch, settings, record, false, keys);
 */
export async function submitJob(
  records: TableWriter<'records'>,
  batch: BatchControl,
  settings: Settings,
  record: JobRecord,
  isFirst: boolean,
  keys: TableReader<'accounts'> | undefined,
): Promise<void> {
  try {
    await submitAndNote(records, batch, settings, record, isFirst, keys);
  } catch (error) {
    const reason = reasonOfRefusal(error);
    if (reason === undefined) throw error;
    await concludeJob(records, record, { status: 'FAILED', reason }, new Date());
  }
}

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
  let depends_on: string | null = null;
  if (needsBuildJob(record)) {
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
    { ...submission, ...(depends_on !== null && { dependsOn: [depends_on] }) },
    isFirst,
  );
  const { subject } = unfinishedJobOf(record);
  const submitted = {
    status: 'SUBMITTED',
    status_rank: rankOf('SUBMITTED'),
    status_reason: 'Handed to the job queue.',
    batch_job_id,
    depends_on,
  };
  const write = changeJob(subject, { set: submitted }, { equals: { status: 'CREATED' } });
  const isNoted = await tryWrite(records.write(write));
  // An event was written first; only the id of the build may still be missing.
  if (!isNoted && depends_on !== null) await noteBuild(records, record, depends_on);
}
