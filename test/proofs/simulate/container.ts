import { experimentKey, parseExperiment } from '../../../shared/data/experiments/experiment.ts';
import { changeJob, jobPartition } from '../../../shared/data/jobs/job.ts';
import { heartbeat, holdsLease } from '../../../shared/data/jobs/lease.ts';
import { acquireLease } from '../../../shared/jobs/acquire-lease.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import type { ModelJob } from './batch-model.ts';
import type { World } from './world.ts';

/** As `shared/runner/job/hold-job.ts` and the shippers of logs and metrics have it, in seconds. */
const heartbeatSeconds = 15;
const flushSeconds = 10;
/** Bytes of a packed chunk of a log. */
const chunkBytes = 1500;

const now = () => new Date();

/** Write home what a job's container does, for so many seconds. */
async function runContainer({ records, clock }: World, job: ModelJob, seconds: number): Promise<void> {
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
  const packed = 'x'.repeat(chunkBytes);
  for (let second = 5; second < seconds; second += 5) {
    await clock.sleep(5_000);
    const isFlush = second % flushSeconds === 0;
    if (!isFlush && second % heartbeatSeconds !== 0) continue;
    const sk = `LOG#00#0001#${String(second).padStart(8, '0')}`;
    const chunk = { pk: jobPartition(experiment_id), sk, record_type: 'chunk', schema_version: 0, packed };
    const beat = heartbeat(experiment_id, 0, lease, now());
    await records.write(beat, ...(isFlush ? [{ put: chunk }] : []));
  }
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
