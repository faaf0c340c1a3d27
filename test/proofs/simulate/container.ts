import { createLogger } from '../../../shared/core/log.ts';
import { changeArtifacts } from '../../../shared/data/experiments/artifact.ts';
import { experimentKey, parseExperiment } from '../../../shared/data/experiments/experiment.ts';
import { changeJob, jobPartition } from '../../../shared/data/jobs/job.ts';
import { heartbeat, holdsLease, putProgress } from '../../../shared/data/jobs/lease.ts';
import { acquireLease } from '../../../shared/jobs/acquire-lease.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import { JobCharges } from '../../../shared/runner/job/charge-job.ts';
import { JobStop } from '../../../shared/runner/job/job-stop.ts';
import type { ModelJob } from './batch-model.ts';
import type { World } from './world.ts';

/** As `shared/runner/job/hold-job.ts` and the shippers of logs and metrics have it, in seconds. */
const heartbeatSeconds = 15;
const flushSeconds = 10;
/** Bytes of a packed chunk of a log. */
const chunkBytes = 1500;

/** Files that a training leaves, as many at a time as its uploader sends at once. */
const groups = 2;
const filesAtOnce = 6;

const filesOf = (experiment_id: string, group: number) =>
  Array.from({ length: filesAtOnce }, (_, index) => {
    const path = `file-${group}-${index}`;
    const value = {
      path,
      size: 1_000,
      sha256: 'a'.repeat(64),
      media_type: 'application/octet-stream',
      object: `${experiment_id}/${path}`,
      created_at: now().toISOString(),
    };
    return { path, value, previous: undefined };
  });

const silent = createLogger('error', () => undefined);

const now = () => new Date();

/** What happens to the jobs of a world. */
export interface Fate {
  /** Seconds of work that a training still has to do from its last checkpoint. */
  workLeft(experiment_id: string): number;
  /** Seconds between two checkpoints; undefined without any. */
  checkpointSeconds?: number;
  /** Called with the seconds of work at each checkpoint, and those that a lost host took. */
  kept?(experiment_id: string, seconds: number): void;
  lost?(experiment_id: string, seconds: number): void;
  /** Whether the host of an attempt is lost at a time in epoch milliseconds. */
  isHostLost?(job: ModelJob, startedAt: number): boolean;
  /** How often an event arrives. */
  copies?(): number;
  began?(experiment_id: string): void;
  ended?(experiment_id: string): void;
}

/** Write home what a job's container does. @returns whether its host was lost */
async function runContainer(
  { records, clock, settings }: World,
  job: ModelJob,
  fate: Fate,
): Promise<boolean> {
  const { PROJECT_ID: project_id = '', EXPERIMENT_ID: experiment_id = '', FORMER_ATTEMPTS } = job.environment;
  const subject = experimentKey(project_id, experiment_id);
  const former = FORMER_ATTEMPTS === undefined ? {} : { former_attempts: Number(FORMER_ATTEMPTS) };
  const batch_attempt = (former.former_attempts ?? 0) + job.attempts.length + 1;
  const me = { batch_job_id: job.jobId, batch_attempt, ...former, node: 0, isBuild: false };
  const holder = `${job.jobId}-${batch_attempt}`;
  const startedAt = clock.now;
  const acquired = await acquireLease(records, { subject, parse: parseExperiment }, me, now(), holder);
  if ('refused' in acquired) return false;
  fate.began?.(experiment_id);
  const { lease, record } = acquired;
  await records.write(
    changeJob(subject, { set: { status_reason: null } }),
    holdsLease(experiment_id, 0, lease),
  );
  const held = { record, lease, node: 0, records, settings, stop: new JobStop(), log: silent, now };
  const charges = new JobCharges(held);
  const packed = 'x'.repeat(chunkBytes);
  const seconds = fate.workLeft(experiment_id);
  const { checkpointSeconds = Number.POSITIVE_INFINITY } = fate;
  let kept = 0;
  for (let second = 5; second < seconds; second += 5) {
    await clock.sleep(5_000);
    if (fate.isHostLost?.(job, startedAt)) {
      fate.lost?.(experiment_id, second - kept);
      return true;
    }
    if (second - kept >= checkpointSeconds) {
      fate.kept?.(experiment_id, second - kept);
      kept = second;
      await records.write(putProgress(experiment_id, 0, lease, { attempt: batch_attempt, kept_seconds: 0 }));
    }
    const isFlush = second % flushSeconds === 0;
    if (!isFlush && second % heartbeatSeconds !== 0) continue;
    const sk = `LOG#${String(lease.number).padStart(4, '0')}#${String(second).padStart(8, '0')}`;
    const chunk = { pk: jobPartition(experiment_id), sk, record_type: 'chunk', schema_version: 0, packed };
    const beat = heartbeat(experiment_id, 0, lease, now());
    await records.write(beat, ...(isFlush ? [{ put: chunk }] : []));
    if (second % heartbeatSeconds === 0) await charges.note();
  }
  const owner = { experiment: record, lease, kind: 'artifact', maxProjectBytes: 1e12 } as const;
  for (let group = 0; group < groups; group += 1)
    await changeArtifacts(records, owner, filesOf(experiment_id, group));
  const conclusion = { status: 'SUCCEEDED', reason: null, exitCode: 0 } as const;
  if (await concludeJob(records, record, conclusion, now(), holdsLease(experiment_id, 0, lease)))
    fate.ended?.(experiment_id);
  return false;
}

const interrupted = 'Your Spot Task was interrupted.';

/** Bring a job of the model through its statuses, with an event of each, and its container through its runs. */
export async function runJob(world: World, job: ModelJob, fate: Fate): Promise<void> {
  const { clock } = world;
  const move = async (status: ModelJob['status'], after: number) => {
    await clock.sleep(after * 1000);
    job.status = status;
    // EventBridge tries again what its function fails on; the reconciler finds what is lost.
    for (let copy = fate.copies?.() ?? 1; copy > 0; copy -= 1)
      world.deliver({ detail: structuredClone(job) }).catch(() => undefined);
  };
  for (;;) {
    await move('RUNNABLE', 2);
    await move('STARTING', 20);
    await move('RUNNING', 20);
    const startedAt = clock.now;
    // A table that is away is tried again for minutes by the real supervisor.
    const isLost = await runContainer(world, job, fate).catch(() => false);
    const statusReason = isLost ? interrupted : 'Essential container in task exited';
    const container = isLost ? {} : { exitCode: 0 };
    job.attempts.push({ startedAt, stoppedAt: clock.now, statusReason, container });
    job.statusReason = statusReason;
    if (!isLost) return move('SUCCEEDED', 2);
    if (job.attempts.length >= job.retryStrategy.attempts) return move('FAILED', 2);
  }
}
