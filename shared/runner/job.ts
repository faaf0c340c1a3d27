import type { ObjectWriter } from '../aws/objects.ts';
import { type Best, type Experiment, experimentKey } from '../data/experiment.ts';
import { changeJob } from '../data/job.ts';
import { heartbeat, holdsLease, type Lease } from '../data/lease.ts';
import { rank } from '../data/ranking.ts';
import { ConditionFailed, type TableWriter } from '../data/table.ts';
import type { Logger } from '../endpoint/log.ts';
import type { Settings } from '../endpoint/settings.ts';
import { type Conclusion, concludeJob } from '../jobs/conclude.ts';
import type { JobEnvironment } from './job-environment.ts';
import type { JobStop } from './job-stop.ts';
import { persist } from './retry.ts';

/** What a container holds while it runs a node of a job. */
export interface Job {
  experiment: Experiment;
  lease: Lease;
  environment: JobEnvironment;
  records: TableWriter<'records'>;
  objects: ObjectWriter;
  settings: Settings;
  stop: JobStop;
  log: Logger;
  now(): Date;
}

const heartbeatSeconds = 15;
/** Seconds for which the outcome of a job is tried to be written while the table is away. */
const outcomeSeconds = 600;

const holds = ({ experiment, environment, lease }: Job) =>
  holdsLease(experiment.experiment_id, environment.container.node, lease);

const subjectOf = ({ experiment }: Job) => experimentKey(experiment.project_id, experiment.experiment_id);

/**
 * Says every few seconds that this container lives, and stops the job when the lease is lost. Ends with the returned
 * function. A table that is away for a while loses no lease: it is the store that knows who holds it.
 */
export function keepAlive(job: Job): () => void {
  const { experiment, environment, lease, records, stop, now, log } = job;
  const beat = async (): Promise<void> => {
    try {
      await records.write(heartbeat(experiment.experiment_id, environment.container.node, lease, now()));
    } catch (error) {
      if (error instanceof ConditionFailed) stop.because({ kind: 'superseded' });
      else log.warn('heartbeat', { error: error instanceof Error ? error.name : '' });
    }
  };
  const timer = setInterval(() => void beat(), heartbeatSeconds * 1000);
  return () => clearInterval(timer);
}

/** Changes the job's own record while it runs; only node 0 does. False once the lease is lost or the job has ended. */
export async function noteProgress(job: Job, set: Readonly<Record<string, unknown>>): Promise<boolean> {
  if (job.environment.container.node > 0) return true;
  try {
    await persist(60, () => job.records.write(changeJob(subjectOf(job), { set }), holds(job)));
    return true;
  } catch (error) {
    if (error instanceof ConditionFailed) return false;
    throw error;
  }
}

/** Writes the outcome of the job, which only the holder of its lease can. False when it was not taken. */
export function conclude(job: Job, conclusion: Conclusion, best: Best | null): Promise<boolean> {
  const { experiment, records, now } = job;
  const ranked = conclusion.status === 'SUCCEEDED' && best !== null ? [rank(experiment, best)] : [];
  const change = { ...conclusion.change, best };
  return persist(outcomeSeconds, () =>
    concludeJob(records, experiment, { ...conclusion, change }, now(), holds(job), ...ranked),
  );
}
