import { join } from 'node:path';
import type { ObjectWriter } from '../../aws/objects.ts';
import { newId } from '../../core/new-id.ts';
import type { OptimizationKind } from '../../data/jobs/job.ts';
import {
  type Compression,
  compressionKey,
  parseCompression,
  putReceipt,
} from '../../data/models/compression.ts';
import type { CommandUser } from '../../host/host.ts';
import { killTree } from '../../process/process-tree.ts';
import { JobError } from '../job/job-error.ts';
import { stageSandbox } from '../job/job-sandbox.ts';
import { type JobHost, runHeldJob } from '../run-held-job.ts';
import type { LogShipper } from '../telemetry/log-shipper.ts';
import { type CompressionJob, type Optimize, readCompressionContainer } from './compression-job.ts';
import {
  type CompressionEnd,
  concludeCompression,
  registerNamed,
  storeResult,
  withRegistered,
} from './conclude-compression.ts';
import { createModelWorkspace, fetchModel, type ModelWorkspace, requestedShapes } from './fetch-model.ts';
import { ProgressNotes } from './progress-notes.ts';

/** Run the container of a pruning or quantization to its end. Return its exit code. */
export function runCompression(
  kind: OptimizationKind,
  variables: Readonly<Record<string, string | undefined>>,
  host: JobHost & { objects: ObjectWriter },
  { optimize, stageProgram }: Engine,
): Promise<number> {
  const container = readCompressionContainer(variables, stageProgram);
  const { strategy_id: job_id, batch_job_id, batch_attempt, former_attempts, node, marker } = container;
  const wanted = {
    ...container,
    job_id,
    subject: compressionKey(kind, job_id),
    parse: parseCompression,
    identity: { batch_job_id, batch_attempt, former_attempts, node, isBuild: false },
  };
  return runHeldJob<Compression, Found>(host, wanted, async (held, cleanup) => {
    const job = { ...held, container, objects: host.objects, optimize, newId };
    const { record, lease } = job;
    const time = watchTime(job);
    cleanup.defer(time.end);
    return {
      title: `Attempt ${batch_attempt}: ${record.request.strategy} of model ${record.model_name}.`,
      unstarted: 'before it started',
      unrun: { further: [], result: [], model: undefined },
      async prepare(user, shipper) {
        const name = `${job_id}-${lease.number}`;
        const workspace = await createModelWorkspace(container.workFolder, name, user);
        cleanup.defer(() => workspace.remove());
        // A stage may have left processes; no other job runs as this user or below this process.
        cleanup.defer(() => killTree({ root: process.pid, marker, ...(user && { uid: user.uid }) }));
        return () => work({ job, workspace, user, shipper, secondsLeft: time.left });
      },
      conclude: (conclusion, end) => concludeCompression(job, { ...end, conclusion }),
    };
  });
}

/** The engine, and the program of its stages. */
interface Engine {
  optimize: Optimize;
  /** The program of a stage, next to the job's own. */
  stageProgram: string;
}

/** What a run leaves for its conclusion. */
type Found = Omit<CompressionEnd, 'conclusion'>;

/** Stop the compression at its timeout. Tell how many seconds are left, and how to cancel the timer. */
function watchTime({ record: { timeout }, stop }: CompressionJob): { left: () => number; end: () => void } {
  const started = performance.now();
  const message = `The job was stopped at its timeout of ${timeout} s.`;
  const timer = setTimeout(() => stop.because({ kind: 'limit', message }), timeout * 1000);
  return { left: () => timeout - (performance.now() - started) / 1000, end: () => clearTimeout(timer) };
}

/** A job with its workspace, user and log. */
interface CompressionRun {
  job: CompressionJob;
  workspace: ModelWorkspace;
  user: CommandUser | undefined;
  shipper: LogShipper;
  /** Seconds until the timeout. */
  secondsLeft: () => number;
}

/** Fetch the model, run the engine, and store the result. */
async function work({ job, workspace, user, shipper, secondsLeft }: CompressionRun): Promise<CompressionEnd> {
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
      secondsLeft,
      say: (line) => shipper.say(line),
      progress: (stage, fraction) => progress.note(stage, fraction),
      signal: stop.signal,
    });
    stop.signal.throwIfAborted();
    progress.note('upload', 0);
    const result = await storeResult(job, join(workspace.work, 'result'), files, user);
    const written = await putReceipt(record.strategy_id, receipt);
    if (written === undefined) throw new JobError('The receipt is too large to store.');
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
