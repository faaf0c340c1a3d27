import type { Conclusion } from '../../jobs/conclusion.ts';
import { cancelledReason } from '../../jobs/reasons.ts';
import { concludeHeldJob, reportNodeEnd } from '../conclusion/conclude-held-job.ts';
import { conclusionOf, conclusionOfError, findCancelled } from '../conclusion/conclusion-of.ts';
import { prepareRunEnvironment } from '../environment/prepare-run-environment.ts';
import type { SecretMask } from '../host/secret-mask.ts';
import { exitCodes } from '../job/batch-container.ts';
import { keepAlive, noteProgress } from '../job/hold-job.ts';
import { claimJobUser } from '../job/job-user.ts';
import { openVariables } from '../job/open-variables.ts';
import type { TrainingJob, TrainingRun } from '../job/training-job.ts';
import { createWorkspace } from '../job/workspace.ts';
import type { OpenTracking } from '../outputs/run-logs.ts';
import { sweepEarlier } from '../outputs/sweep-leftovers.ts';
import { openLog } from '../telemetry/log-shipper.ts';
import { fetchInputs } from './fetch-inputs.ts';
import { restoreCheckpoints } from './restore-checkpoints.ts';
import { type CommandResult, runCommand } from './run-command.ts';

/**
 * Run a node of a training to its end. The caller holds its lease. Return the exit code of the container.
 * @param openTracking starts the tracking server for clients of the command
 */
export async function runTraining(job: TrainingJob, openTracking?: OpenTracking): Promise<number> {
  const { record, container } = job;
  const { node, isBuild, batch_attempt } = container.identity;
  await using opened = new AsyncDisposableStack();
  opened.defer(keepAlive(job, container.heartbeat));
  const variables = await openVariables(job);
  const shipper = openLog(job, variables.mask);
  const what = isBuild ? 'Building the environment' : `Attempt ${batch_attempt}`;
  shipper.say(`${what} of ${record.kind} on node ${node} of ${container.nodes}.`);
  const { user, release } = await claimJobUser(container.firstUid);
  opened.defer(release);
  const workspace = await createWorkspace(container.workFolder, `${record.experiment_id}-${node}`, user);
  opened.defer(workspace.remove);

  const end = await endOf({ job, workspace, user, shipper, variables }, openTracking);
  const { isBuilt } = end;
  const conclusion = end.conclusion && masked(end.conclusion, variables.mask);
  if (conclusion !== undefined && conclusion.reason !== null) {
    // The log already contains the error, because the command printed it.
    const printed = end.crash === undefined ? '' : `${variables.mask.apply(end.crash)}\n`;
    shipper.say(conclusion.reason.replace(printed, ''));
  }
  await shipper.close();
  if (conclusion === undefined) return isBuilt ? exitCodes.succeeded : exitCodes.interrupted;
  await conclude(job, conclusion, end);
  return conclusion.status === 'SUCCEEDED' ? exitCodes.succeeded : exitCodes.failed;
}

/** How a run of a node ended. */
interface RunEnd {
  /**
   * Undefined if this container writes no conclusion: it was the build, the lease is lost, or Batch decides on
   * another attempt.
   */
  conclusion: Conclusion | undefined;
  /** Warnings for the run; undefined if the command has not run. */
  warnings: readonly string[] | undefined;
  /** Whether this container only built the environment and succeeded. */
  isBuilt: boolean;
  /** Whether the command has run and its files are stored. */
  hasRun: boolean;
  /** The error that the command printed last. */
  crash?: string | undefined;
}

/** Run the phases, and turn their result or error into the end of the run. */
async function endOf(run: TrainingRun, openTracking: OpenTracking | undefined): Promise<RunEnd> {
  const { job } = run;
  const unrun = { warnings: undefined, isBuilt: false, hasRun: false };
  try {
    const cancelled = await findCancelled(job);
    if (cancelled !== undefined) {
      const reason = cancelledReason(cancelled.by, 'before its command started');
      return { ...unrun, conclusion: { status: 'CANCELLED', reason } };
    }
    const result = await runPhases(run, openTracking);
    if (result === 'built') return { ...unrun, conclusion: undefined, isBuilt: true };
    const conclusion = await conclusionOfCommand(job, result);
    const { warnings, crash } = result;
    return { conclusion, warnings, isBuilt: false, hasRun: true, crash };
  } catch (error) {
    return { ...unrun, conclusion: await conclusionOfError(job, error) };
  }
}

/** The phases of a run, in their order. */
async function runPhases(
  run: TrainingRun,
  openTracking: OpenTracking | undefined,
): Promise<CommandResult | 'built'> {
  const { job } = run;
  const { isBuild } = job.container.identity;
  if (run.variables.fault !== undefined) throw run.variables.fault;
  const configPath = await fetchInputs(run);
  await noteProgress(job, { status_reason: 'Preparing the environment.' });
  const prepared = await prepareRunEnvironment(run);
  if (isBuild) return 'built';
  await noteProgress(job, { status_reason: null });
  await restoreRunCheckpoints(run);
  return runCommand(run, prepared, configPath, openTracking);
}

/**
 * Restore the checkpoints of the continued experiment and of earlier attempts. Runs after the environment's build,
 * because its programs could change them.
 */
async function restoreRunCheckpoints({ job, workspace, user, shipper }: TrainingRun): Promise<void> {
  const { record: experiment, node, records, objects, stop } = job;
  if (node > 0) return;
  const restore = async (experiment_id: string, origin: string): Promise<void> => {
    const restored = await restoreCheckpoints({
      ...{ experiment: { experiment_id }, records, objects, stop: stop.signal },
      folder: workspace.checkpoints,
      ...(user !== undefined && { user }),
    });
    if (restored > 0) shipper.say(`${restored} checkpoint files of ${origin} are in CHECKPOINT_DIR.`);
  };
  const { continues_from } = experiment;
  // The experiment's own checkpoints are newer and come last. Restore those of the other experiment too: an
  // earlier attempt may have died before it stored all.
  if (continues_from !== null) await restore(continues_from, `experiment ${continues_from}`);
  if (experiment.attempt > 1) await restore(experiment.experiment_id, 'an earlier attempt');
}

async function conclusionOfCommand(
  job: TrainingJob,
  { outcome, crash }: CommandResult,
): Promise<Conclusion | undefined> {
  const { timeout, memory } = job.record;
  const cancelled = outcome.cause === 'stopped' ? await findCancelled(job) : undefined;
  return conclusionOf(outcome, { stop: job.stop.reason, cancelled, timeout, memory, crash });
}

/** The conclusion with secrets masked in its reason. */
const masked = ({ reason, ...conclusion }: Conclusion, mask: SecretMask): Conclusion => ({
  ...conclusion,
  reason: reason === null ? null : mask.apply(reason),
});

/** Write how the run ended. Node 0 concludes the job; another node reports its end to node 0. */
async function conclude(
  job: TrainingJob,
  conclusion: Conclusion,
  { warnings, hasRun }: RunEnd,
): Promise<void> {
  if (job.node > 0) return reportNodeEnd(job, conclusion);
  // If the command ran, its end has already removed leftovers.
  if (!hasRun) await sweepEarlier(job);
  await concludeHeldJob(job, {
    ...conclusion,
    change: { ...conclusion.change, ...(warnings !== undefined && { warnings }) },
  });
}
