import { join } from 'node:path';
import type { ObjectWriter } from '../../aws/objects.ts';
import { experimentKey, parseExperiment } from '../../data/experiments/experiment.ts';
import type { SystemUse } from '../../data/experiments/system-use.ts';
import type { Conclusion } from '../../jobs/conclusion.ts';
import { prepareRunEnvironment } from '../environment/prepare-run-environment.ts';
import { concludeHeldJob, reportNodeEnd } from '../job/conclude-held-job.ts';
import { conclusionOf, findCancelled } from '../job/conclusion-of.ts';
import { noteProgress } from '../job/hold-job.ts';
import { JobProgress } from '../job/job-progress.ts';
import { openVariables } from '../job/open-variables.ts';
import type { TrainingContainer } from '../job/training-container.ts';
import type { TrainingJob, TrainingRun } from '../job/training-job.ts';
import { createWorkspace } from '../job/workspace.ts';
import type { OpenTracking } from '../outputs/client-records.ts';
import { removeEarlierOrphans } from '../outputs/remove-orphans.ts';
import { type JobHost, type RunEnd, runHeldJob } from '../run-held-job.ts';
import { fetchInputs } from './fetch-inputs.ts';
import { missingReason } from './missing-reason.ts';
import { restoreCheckpoints } from './restore-checkpoints.ts';
import { type CommandResult, runCommand } from './run-command.ts';

/**
 * Run a node of a training, or the build of its environment, to its end. Return the exit code of the container.
 * @param openTracking starts the tracking server for clients of the command
 */
export function runTraining(
  container: TrainingContainer,
  host: JobHost & { objects: ObjectWriter },
  openTracking?: OpenTracking,
): Promise<number> {
  const { project_id, experiment_id: job_id, identity } = container;
  const subject = experimentKey(project_id, job_id);
  const wanted = { ...container, job_id, subject, parse: parseExperiment };
  return runHeldJob(host, wanted, async (held, cleanup) => {
    const job = { ...held, container, objects: host.objects, progress: new JobProgress(held) };
    const variables = await openVariables(job);
    const what = identity.isBuild ? 'Building the environment' : `Attempt ${identity.batch_attempt}`;
    return {
      title: `${what} of ${job.record.kind} on node ${job.node} of ${container.nodes}.`,
      mask: variables.mask,
      unstarted: 'before its command started',
      unrun: { warnings: undefined, hasRun: false },
      async prepare(user, shipper) {
        const workspace = await createWorkspace(container.workFolder, `${job_id}-${job.node}`, user);
        cleanup.defer(workspace.remove);
        return () => work({ job, workspace, user, shipper, variables }, openTracking);
      },
      conclude: (conclusion, end) => conclude(job, conclusion, end),
    };
  });
}

/** How a run of a node ended. */
interface TrainingEnd {
  /** Warnings for the run; undefined if the command has not run. */
  warnings: readonly string[] | undefined;
  /** What the command used; undefined if nothing tells. */
  system?: SystemUse | undefined;
  /** Whether the command has run and its files are stored. */
  hasRun: boolean;
}

async function work(run: TrainingRun, openTracking: OpenTracking | undefined): Promise<RunEnd<TrainingEnd>> {
  const result = await runPhases(run, openTracking);
  if (result === 'built') return { warnings: undefined, hasRun: false, conclusion: undefined, isBuilt: true };
  const { warnings, system, crash } = result;
  return { conclusion: await conclusionOfCommand(run.job, result), warnings, system, hasRun: true, crash };
}

/** The phases of a run, in their order. */
async function runPhases(
  trainingRun: TrainingRun,
  openTracking: OpenTracking | undefined,
): Promise<(CommandResult & Hinted) | 'built'> {
  const { job } = trainingRun;
  const { isBuild } = job.container.identity;
  if (trainingRun.variables.fault !== undefined) throw trainingRun.variables.fault;
  const { configPath, notes, linked } = await fetchInputs(trainingRun);
  const { source } = trainingRun.workspace;
  const folder = join(source, notes.folder ?? '');
  const run = { ...trainingRun, workspace: { ...trainingRun.workspace, folder } };
  await noteProgress(job, { status_reason: 'Preparing the environment.' });
  const prepared = await prepareRunEnvironment(run);
  if (isBuild) return 'built';
  await noteProgress(job, { status_reason: null });
  await restoreRunCheckpoints(run);
  const result = await runCommand(run, prepared, configPath, openTracking);
  return { ...result, hint: missingReason(result.crash, notes, { source, folder, linked }) };
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

/** What helps against the error of the command; undefined if nothing is known. */
interface Hinted {
  hint: string | undefined;
}

async function conclusionOfCommand(
  job: TrainingJob,
  { outcome, crash, hint }: CommandResult & Hinted,
): Promise<Conclusion | undefined> {
  const { timeout, memory } = job.record;
  const cancelled = outcome.cause === 'stopped' ? await findCancelled(job) : undefined;
  return conclusionOf(outcome, { stop: job.stop.reason, cancelled, timeout, memory, crash, hint });
}

/** Write how the run ended. Node 0 concludes the job; another node reports its end to node 0. */
async function conclude(
  job: TrainingJob,
  conclusion: Conclusion,
  { warnings, system, hasRun }: TrainingEnd,
): Promise<void> {
  if (job.node > 0) return reportNodeEnd(job, conclusion);
  // If the command ran, its end has already removed leftovers.
  if (!hasRun) await removeEarlierOrphans(job);
  await concludeHeldJob(job, {
    ...conclusion,
    change: {
      ...conclusion.change,
      ...(warnings !== undefined && { warnings }),
      ...(system !== undefined && { system }),
    },
  });
}
