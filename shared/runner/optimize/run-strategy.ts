import { join } from 'node:path';
import { putReceipt } from '../../data/receipt.ts';
import type { Conclusion } from '../../jobs/conclude.ts';
import { ModelError } from '../../onnx/model-error.ts';
import { killTree } from '../../process/process-tree.ts';
import { exitCodes } from '../job/exit-codes.ts';
import { conclusionOfFault, isCancelled, keepAlive, openLog } from '../job/held-job.ts';
import { JobError } from '../job/job-error.ts';
import { stageSandbox } from '../job/job-sandbox.ts';
import { claimJobUser, type JobUser } from '../job/job-user.ts';
import { conclusionOf } from '../outcome.ts';
import type { LogShipper } from '../telemetry/log-shipper.ts';
import { concludeStrategy, type StrategyEnd, withRegistered } from './conclude-strategy.ts';
import { fetchModel } from './fetch-model.ts';
import { createModelWorkspace, type ModelWorkspace } from './model-workspace.ts';
import { ProgressNotes } from './progress-notes.ts';
import { registerNamed } from './register-named.ts';
import { requestedShapes } from './requested-shapes.ts';
import { storeResult } from './store-result.ts';
import type { StrategyJob } from './strategy-job.ts';

interface Place {
  job: StrategyJob;
  workspace: ModelWorkspace;
  user: JobUser['user'];
  shipper: LogShipper;
}

/** An end without a result; undefined where there is nothing to conclude. */
const over = (conclusion: Conclusion | undefined): StrategyEnd | undefined =>
  conclusion && { conclusion, further: [], result: [], model: undefined };

const stoppedBefore = {
  cause: 'stopped',
  exitCode: null,
  signal: null,
  killed: false,
  peakRssBytes: null,
} as const;

/** What this process itself may take of the job's memory, in MiB. */
const ownMemory = 512;

/** Bytes that a stage may take in a job of so many MiB. */
const stageMemory = (memory: number): number => Math.max(memory - ownMemory, memory / 2) * 2 ** 20;

/** Fetches the model, has the engine work on it, and stores what comes of it. */
async function work({ job, workspace, user, shipper }: Place): Promise<StrategyEnd> {
  const { record, environment, stop, optimize } = job;
  const progress = new ProgressNotes(job);
  try {
    progress.note('fetch', 0);
    const fetched = await fetchModel(job, workspace);
    const shapes = await requestedShapes(record, fetched.model);
    const { receipt, files } = await optimize({
      request: record.request,
      ...fetched,
      ...shapes,
      folder: workspace.work,
      stageCommand: environment.stageCommand,
      ...(user !== undefined && { user }),
      sandbox: stageSandbox(environment.hostSandbox, workspace.root, environment.stageFolder),
      limits: { memoryBytes: stageMemory(record.memory), seconds: record.timeout },
      say: (line) => shipper.say(line),
      progress: (stage, fraction) => progress.note(stage, fraction),
      signal: stop.signal,
    });
    stop.signal.throwIfAborted();
    progress.note('upload', 0);
    const result = await storeResult(job, join(workspace.work, 'result'), files, user);
    const written = await putReceipt(record.strategy_id, receipt);
    if (written === undefined) throw new JobError('The receipt is too large to be kept.');
    const { model, ...named } = await registerNamed(job, result);
    const change = { result, receipt_parts: written.length, progress: { stage: 'done', fraction: 1 } };
    const conclusion = { status: 'SUCCEEDED', reason: null, exitCode: 0, change } as const;
    return { conclusion: withRegistered(conclusion, named), further: written, result, model };
  } finally {
    await progress.close();
  }
}

/** Runs a strategy within its place and tells how it ends. */
async function attend(place: Place): Promise<StrategyEnd | undefined> {
  const { job } = place;
  const { stop, record } = job;
  try {
    if (await isCancelled(job)) return over({ status: 'CANCELLED', reason: 'Cancelled before it started.' });
    return await work(place);
  } catch (error) {
    if (stop.reason !== undefined) {
      const cancelled = await isCancelled(job);
      const { timeout, memory } = record;
      return over(conclusionOf(stoppedBefore, { stop: stop.reason, cancelled, timeout, memory }));
    }
    if (error instanceof ModelError || error instanceof JobError)
      return over({ status: 'FAILED', reason: error.message });
    return over(conclusionOfFault(error, job));
  }
}

/** Ends the strategy at its timeout. Returns what calls that off. */
function watchTime({ record: { timeout }, stop }: StrategyJob): () => void {
  const message = `The job was stopped at its timeout of ${timeout} s.`;
  const timer = setTimeout(() => stop.because({ kind: 'limit', message }), timeout * 1000);
  return () => clearTimeout(timer);
}

/** Prunes or quantizes a model as a leased job, to its end, and returns the exit code of the container. */
export async function runStrategy(job: StrategyJob): Promise<number> {
  const { record, environment, lease } = job;
  await using started = new AsyncDisposableStack();
  started.defer(keepAlive(job));
  started.defer(watchTime(job));
  const shipper = openLog(job);
  shipper.say(
    `Attempt ${environment.batch_attempt}: ${record.request.strategy} of model ${record.model_name}.`,
  );
  const jobUser = await claimJobUser(environment.firstUid);
  started.defer(() => jobUser.release());
  const { user } = jobUser;
  const name = `${record.strategy_id}-${lease.number}`;
  const workspace = await createModelWorkspace(environment.workFolder, name, user);
  started.defer(() => workspace.remove());
  // Whatever a stage may have left running; nobody else runs as this user or below this process.
  started.defer(() =>
    killTree({ root: process.pid, marker: environment.marker, ...(user && { uid: user.uid }) }),
  );

  const end = await attend({ job, workspace, user, shipper });
  if (end !== undefined && end.conclusion.reason !== null) shipper.say(end.conclusion.reason);
  await shipper.close();
  if (end === undefined) return exitCodes.interrupted;
  await concludeStrategy(job, end);
  return end.conclusion.status === 'SUCCEEDED' ? exitCodes.succeeded : exitCodes.failed;
}
