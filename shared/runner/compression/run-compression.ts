import { join } from 'node:path';
import { putReceipt } from '../../data/models/compression.ts';
import type { Conclusion } from '../../jobs/conclusion.ts';
import { cancelledReason } from '../../jobs/reasons.ts';
import { killTree } from '../../process/process-tree.ts';
import { conclusionOfError, findCancelled } from '../conclusion/conclusion-of.ts';
import { exitCodes } from '../job/batch-container.ts';
import { keepAlive } from '../job/hold-job.ts';
import { JobError } from '../job/job-error.ts';
import { stageSandbox } from '../job/job-sandbox.ts';
import { claimJobUser, type JobUser } from '../job/job-user.ts';
import { type LogShipper, openLog } from '../telemetry/log-shipper.ts';
import type { CompressionJob } from './compression-job.ts';
import {
  type CompressionEnd,
  concludeCompression,
  registerNamed,
  withRegistered,
} from './conclude-compression.ts';
import { createModelWorkspace, fetchModel, type ModelWorkspace } from './fetch-model.ts';
import { ProgressNotes } from './progress-notes.ts';
import { requestedShapes } from './requested-shapes.ts';
import { storeResult } from './store-result.ts';

/** Run a pruning or quantization to its end. The caller holds its lease. Return the exit code of the container. */
export async function runCompression(job: CompressionJob): Promise<number> {
  const { record, container, lease } = job;
  await using started = new AsyncDisposableStack();
  started.defer(keepAlive(job));
  started.defer(watchTime(job));
  const shipper = openLog(job);
  shipper.say(
    `Attempt ${container.batch_attempt}: ${record.request.strategy} of model ${record.model_name}.`,
  );
  const jobUser = await claimJobUser(container.firstUid);
  started.defer(() => jobUser.release());
  const { user } = jobUser;
  const name = `${record.strategy_id}-${lease.number}`;
  const workspace = await createModelWorkspace(container.workFolder, name, user);
  started.defer(() => workspace.remove());
  // A stage may have left processes; no other job runs as this user or below this process.
  started.defer(() =>
    killTree({ root: process.pid, marker: container.marker, ...(user && { uid: user.uid }) }),
  );

  const end = await endOf({ job, workspace, user, shipper });
  if (end !== undefined && end.conclusion.reason !== null) shipper.say(end.conclusion.reason);
  await shipper.close();
  if (end === undefined) return exitCodes.interrupted;
  await concludeCompression(job, end);
  return end.conclusion.status === 'SUCCEEDED' ? exitCodes.succeeded : exitCodes.failed;
}

/** Stop the compression at its timeout. Return a function that cancels the timer. */
function watchTime({ record: { timeout }, stop }: CompressionJob): () => void {
  const message = `The job was stopped at its timeout of ${timeout} s.`;
  const timer = setTimeout(() => stop.because({ kind: 'limit', message }), timeout * 1000);
  return () => clearTimeout(timer);
}

/** A job with its workspace, user and log. */
interface CompressionRun {
  job: CompressionJob;
  workspace: ModelWorkspace;
  user: JobUser['user'];
  shipper: LogShipper;
}

/** Do the work, and turn its result or error into the end of the compression. */
async function endOf(run: CompressionRun): Promise<CompressionEnd | undefined> {
  const { job } = run;
  try {
    const cancelled = await findCancelled(job);
    if (cancelled !== undefined) {
      const reason = cancelledReason(cancelled.by, 'before it started');
      return withoutResult({ status: 'CANCELLED', reason });
    }
    return await work(run);
  } catch (error) {
    return withoutResult(await conclusionOfError(job, error));
  }
}

/** Build an end without a result; undefined if there is no conclusion. */
const withoutResult = (conclusion: Conclusion | undefined): CompressionEnd | undefined =>
  conclusion && { conclusion, further: [], result: [], model: undefined };

/** Fetch the model, run the engine, and store the result. */
async function work({ job, workspace, user, shipper }: CompressionRun): Promise<CompressionEnd> {
  const { record, container, stop, optimize } = job;
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
      stageCommand: container.stageCommand,
      ...(user !== undefined && { user }),
      sandbox: stageSandbox(container.hostSandbox, workspace.root, container.stageFolder),
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

/** MiB of the job's memory reserved for this process. */
const ownMemory = 512;

/** Bytes of memory for a stage of a job that has `memory` MiB. */
const stageMemory = (memory: number): number => Math.max(memory - ownMemory, memory / 2) * 2 ** 20;
