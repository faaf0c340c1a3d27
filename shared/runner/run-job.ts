import { findExperiment } from '../data/experiment.ts';
import { appendLog } from '../data/job-log.ts';
import type { Conclusion } from '../jobs/conclude.ts';
import { ArtifactLimit } from './artifact-limit.ts';
import { CommandError } from './command.ts';
import { EnvironmentError } from './environment/environment-error.ts';
import { conclude, type Job, keepAlive, noteProgress } from './job.ts';
import { JobFailure } from './job-failure.ts';
import { claimJobUser, type JobUser } from './job-user.ts';
import { LogShipper } from './log-shipper.ts';
import { conclusionOf } from './outcome.ts';
import { prepareRun } from './prepare-run.ts';
import { persist } from './retry.ts';
import { type CommandResult, runCommand } from './run-command.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/** Exit codes of the container. Batch tells success from failure by them; the record says more. */
export const exitCodes = { succeeded: 0, failed: 1, interrupted: 143 } as const;

/** Whether somebody wished this job to end; read anew, for the wish came after the job was read. */
async function isCancelled({ records, experiment }: Job): Promise<boolean> {
  const found = await persist(60, () =>
    findExperiment(records, experiment.project_id, experiment.experiment_id),
  );
  return found === undefined || found.cancel_requested_at !== null;
}

function shipperOf({ experiment, environment, lease, records, settings, stop, now }: Job): LogShipper {
  const { node } = environment.container;
  const most = settings.limits.logBytes;
  return new LogShipper({
    sink: {
      append: (sequence, lines) =>
        appendLog(records, experiment.experiment_id, node, lease, sequence, lines, now()),
    },
    now,
    maxBytes: most,
    onLost: () => stop.because({ kind: 'superseded' }),
    onLimit: () => stop.because({ kind: 'limit', message: `The log reached its limit of ${most} bytes.` }),
  });
}

/** What a fault of the job itself, rather than of its command, concludes it with. */
function conclusionOfFault(error: unknown, job: Job): Conclusion {
  const { log } = job;
  const isForPeople =
    error instanceof JobFailure ||
    error instanceof EnvironmentError ||
    error instanceof CommandError ||
    error instanceof ArtifactLimit;
  if (isForPeople) return { status: 'FAILED', reason: error.message };
  log.error('job-fault', { stack: error instanceof Error ? error.stack : String(error) });
  const name = error instanceof Error ? error.name : 'unknown';
  return {
    status: 'FAILED',
    reason: `The service could not go on with this job (${name}); its operator finds more in the log.`,
  };
}

interface Place {
  job: Job;
  workspace: Workspace;
  jobUser: JobUser;
  shipper: LogShipper;
}

async function work({ job, workspace, jobUser, shipper }: Place): Promise<CommandResult | 'built'> {
  const { user } = jobUser;
  const { prepared, configPath } = await prepareRun({ job, workspace, user, shipper });
  if (job.environment.container.isBuild) return 'built';
  await noteProgress(job, { status_reason: null });
  return runCommand({ job, workspace, prepared, configPath, user, shipper });
}

interface End {
  /** Undefined when there is nothing to conclude. */
  conclusion: Conclusion | undefined;
  best: CommandResult['best'];
  isBuilt: boolean;
}

const stoppedBefore = {
  cause: 'stopped',
  exitCode: null,
  signal: null,
  killed: false,
  peakRssBytes: null,
} as const;

/** Runs a node of a job within its place and tells how it ends. */
async function attend(place: Place): Promise<End> {
  const { job } = place;
  const { experiment, stop } = job;
  const end = (conclusion: Conclusion | undefined, best = experiment.best): End => ({
    conclusion,
    best,
    isBuilt: false,
  });
  const judge = async (outcome: CommandResult['outcome'], best = experiment.best): Promise<End> => {
    const cancelled = outcome.cause === 'stopped' && (await isCancelled(job));
    return end(conclusionOf(outcome, { stop: stop.reason, cancelled, timeout: experiment.timeout }), best);
  };
  try {
    if (await isCancelled(job))
      return end({ status: 'CANCELLED', reason: 'Cancelled before its command started.' });
    const result = await work(place);
    if (result === 'built') return { ...end(undefined), isBuilt: true };
    return await judge(result.outcome, result.best);
  } catch (error) {
    return stop.reason === undefined ? end(conclusionOfFault(error, job)) : judge(stoppedBefore);
  }
}

/** Runs a node of a leased job to its end and returns the exit code of the container. */
export async function runJob(job: Job): Promise<number> {
  const { experiment, environment } = job;
  const { node, isBuild, batch_attempt } = environment.container;
  const endKeepAlive = keepAlive(job);
  const shipper = shipperOf(job);
  shipper.say(
    `${isBuild ? 'Building the environment' : `Attempt ${batch_attempt}`} of ${experiment.kind} on node ${node} of ${environment.nodes}.`,
  );
  const jobUser = await claimJobUser(environment.firstUid);
  const workspace = await createWorkspace(
    environment.workFolder,
    `${experiment.experiment_id}-${node}`,
    jobUser.user,
  );
  try {
    const { conclusion, best, isBuilt } = await attend({ job, workspace, jobUser, shipper });
    if (conclusion !== undefined && conclusion.reason !== null) shipper.say(conclusion.reason);
    await shipper.close();
    if (conclusion === undefined) return isBuilt ? exitCodes.succeeded : exitCodes.interrupted;
    // Only node 0 speaks for the job; the others' ends are in their logs.
    const speaks = node === 0;
    if (speaks) await conclude(job, conclusion, best);
    return conclusion.status === 'SUCCEEDED' ? exitCodes.succeeded : exitCodes.failed;
  } finally {
    endKeepAlive();
    await workspace.remove();
    await jobUser.release();
  }
}
