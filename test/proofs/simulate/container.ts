import { createLogger } from '../../../shared/core/log.ts';
import { changeArtifacts } from '../../../shared/data/experiments/artifact.ts';
import { experimentKey, parseExperiment } from '../../../shared/data/experiments/experiment.ts';
import { changeJob, jobPartition } from '../../../shared/data/jobs/job.ts';
import { heartbeat, holdsLease } from '../../../shared/data/jobs/lease.ts';
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

/** Write home what a job's container does, for so many seconds. */
async function runContainer(
  { records, clock, settings }: World,
  job: ModelJob,
  seconds: number,
): Promise<void> {
  const { PROJECT_ID: project_id = '', EXPERIMENT_ID: experiment_id = '' } = job.environment;
  const subject = experimentKey(project_id, experiment_id);
  const me = { batch_job_id: job.jobId, batch_attempt: 1, node: 0, isBuild: false };
  const acquired = await acquireLease(records, { subject, parse: parseExperiment }, me, now(), job.jobId);
  if ('refused' in acquired) return;
  const { lease, record } = acquired;
  await records.write(
    changeJob(subject, { set: { status_reason: null } }),
    holdsLease(experiment_id, 0, lease),
  );
  const held = { record, lease, node: 0, records, settings, stop: new JobStop(), log: silent, now };
  const charges = new JobCharges(held);
  const packed = 'x'.repeat(chunkBytes);
  for (let second = 5; second < seconds; second += 5) {
    await clock.sleep(5_000);
    const isFlush = second % flushSeconds === 0;
    if (!isFlush && second % heartbeatSeconds !== 0) continue;
    const sk = `LOG#00#0001#${String(second).padStart(8, '0')}`;
    const chunk = { pk: jobPartition(experiment_id), sk, record_type: 'chunk', schema_version: 0, packed };
    const beat = heartbeat(experiment_id, 0, lease, now());
    await records.write(beat, ...(isFlush ? [{ put: chunk }] : []));
    if (second % heartbeatSeconds === 0) await charges.note();
  }
  const owner = { experiment: record, lease, kind: 'artifact', maxProjectBytes: 1e12 } as const;
  for (let group = 0; group < groups; group += 1)
    await changeArtifacts(records, owner, filesOf(experiment_id, group));
  const conclusion = { status: 'SUCCEEDED', reason: null, exitCode: 0 } as const;
  await concludeJob(records, record, conclusion, now(), holdsLease(experiment_id, 0, lease));
}

/** Bring a job of the model through its statuses, with an event of each, and its container through its run. */
export async function runJob(world: World, job: ModelJob, seconds: number): Promise<void> {
  const { clock } = world;
  const move = async (status: ModelJob['status'], after: number) => {
    await clock.sleep(after * 1000);
    job.status = status;
    const { jobId, jobName } = job;
    // EventBridge tries again what its function fails on; the reconciler finds what is lost.
    world.deliver({ detail: { jobId, jobName, status } }).catch(() => undefined);
  };
  await move('RUNNABLE', 2);
  await move('STARTING', 20);
  await move('RUNNING', 20);
  // A table that is away is tried again for minutes by the real supervisor.
  await runContainer(world, job, seconds).catch(() => undefined);
  await move('SUCCEEDED', 5);
}
