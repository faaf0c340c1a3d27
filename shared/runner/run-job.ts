import { rank } from '../data/ranking.ts';
import type { Conclusion } from '../jobs/conclude.ts';
import { CommandError } from './command/parse-command.ts';
import { type CommandResult, runCommand } from './command/run-command.ts';
import { EnvironmentError } from './environment/environment-error.ts';
import { exitCodes } from './job/exit-codes.ts';
import {
  conclude,
  conclusionOfFault,
  isCancelled,
  keepAlive,
  noteProgress,
  openLog,
  reportEnd,
} from './job/held-job.ts';
import type { Job } from './job/job.ts';
import { JobError } from './job/job-error.ts';
import { claimJobUser, type JobUser } from './job/job-user.ts';
import { createWorkspace, type Workspace } from './job/workspace.ts';
import { conclusionOf } from './outcome.ts';
import { ArtifactLimitError } from './outputs/artifact-limit-error.ts';
import { sweepEarlier } from './outputs/sweep-earlier.ts';
import { prepareRun } from './prepare-run.ts';
import type { LogShipper } from './telemetry/log-shipper.ts';

const isForPeople = (error: unknown): error is Error =>
  error instanceof JobError ||
  error instanceof EnvironmentError ||
  error instanceof CommandError ||
  error instanceof ArtifactLimitError;

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
  /** Whether its command has run, and all that it left is in its place. */
  hasRun: boolean;
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
  const { record: experiment, stop } = job;
  const end = (conclusion: Conclusion | undefined, best = experiment.best): End => ({
    conclusion,
    best,
    isBuilt: false,
    hasRun: false,
  });
  const judge = async ({ outcome, best, crash }: CommandResult): Promise<End> => {
    const cancelled = outcome.cause === 'stopped' && (await isCancelled(job));
    return end(
      conclusionOf(outcome, {
        stop: stop.reason,
        cancelled,
        timeout: experiment.timeout,
        memory: experiment.memory,
        crash,
      }),
      best,
    );
  };
  try {
    if (await isCancelled(job))
      return end({ status: 'CANCELLED', reason: 'Cancelled before its command started.' });
    const result = await work(place);
    if (result === 'built') return { ...end(undefined), isBuilt: true };
    return { ...(await judge(result)), hasRun: true };
  } catch (error) {
    if (stop.reason !== undefined) return judge({ outcome: stoppedBefore, best: experiment.best });
    return end(
      isForPeople(error) ? { status: 'FAILED', reason: error.message } : conclusionOfFault(error, job),
    );
  }
}

/** Writes the outcome of a training, and ranks it among the experiments of its project. */
function concludeTraining(job: Job, conclusion: Conclusion, best: End['best']): Promise<boolean> {
  const ranked = conclusion.status === 'SUCCEEDED' && best !== null ? [rank(job.record, best)] : [];
  return conclude(job, { ...conclusion, change: { ...conclusion.change, best } }, ...ranked);
}

/** Runs a node of a leased job to its end and returns the exit code of the container. */
export async function runJob(job: Job): Promise<number> {
  const { record: experiment, environment } = job;
  const { node, isBuild, batch_attempt } = environment.container;
  const endKeepAlive = keepAlive(job, environment.heartbeat);
  const shipper = openLog(job);
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
    const { conclusion, best, isBuilt, hasRun } = await attend({ job, workspace, jobUser, shipper });
    if (conclusion !== undefined && conclusion.reason !== null) shipper.say(conclusion.reason);
    await shipper.close();
    if (conclusion === undefined) return isBuilt ? exitCodes.succeeded : exitCodes.interrupted;
    // Only node 0 speaks for the job; the others tell it how they ended.
    const speaks = node === 0;
    if (speaks && !hasRun) await sweepEarlier(job);
    if (speaks) await concludeTraining(job, conclusion, best);
    else await reportEnd(job, conclusion);
    return conclusion.status === 'SUCCEEDED' ? exitCodes.succeeded : exitCodes.failed;
  } finally {
    endKeepAlive();
    await workspace.remove();
    await jobUser.release();
  }
}
