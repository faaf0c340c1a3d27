import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { thisHost } from '../../../host/this-host.ts';
import { extendedFlag } from '../../measure/session/extended-flag.ts';
import { silentRuntime } from '../../measure/session/session.ts';
import { sessionFlag } from '../../measure/session/session-flag.ts';
import { SessionPool } from '../../measure/session/session-pool.ts';
import { type StageLine, StageTask } from '../../measure/session/stage-task.ts';
import { BlockMemory } from '../../methods/quantize/blocks/block-memory.ts';
import { ModelError } from '../../model/model-error.ts';
import type { StageReporter } from '../process/stage-reporter.ts';
import { ReferenceCache } from './reference-outputs.ts';

const answerDescriptor = 3;

function write(line: StageLine): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let done = 0; done < bytes.length; ) done += writeSync(answerDescriptor, bytes, done);
}

/** Level of ONNX Runtime's graph optimizations for all stages of this process. */
const level = process.argv.includes(extendedFlag) ? 'extended' : 'all';
const sessions = new SessionPool(level);
const references = new ReferenceCache();
const memory = new BlockMemory();

/**
 * Runs the stage that a task names. Loads the code of that stage only: a stage that transforms runs no session.
 */
async function answerTo(task: StageTask, voice: StageReporter): Promise<unknown> {
  switch (task.kind) {
    case 'read':
      return (await import('./read-stage.ts')).readStage(task);
    case 'calibrate':
      return await (await import('./calibrate-stage.ts')).calibrateStage(task, voice);
    case 'transform':
      return (await import('./transform-stage.ts')).transformStage(task, voice, memory);
    case 'probe':
      return await (await import('./probe-stage.ts')).probeStage(task, voice, sessions);
    case 'raise':
      return (await import('./raise-stage.ts')).raiseStage(task);
    case 'open':
      return await (await import('./open-stage.ts')).openStage(task, sessions);
    case 'compare':
      return await (await import('./compare-stage.ts')).compareStage(task, voice, sessions, references);
    case 'time':
      return await (await import('./time-stage.ts')).timeStage(task, voice, sessions);
    case 'race':
      return await (await import('./race-stage.ts')).raceStage(task, voice, level);
    case 'size':
      return await (await import('./size-stage.ts')).sizeStage(task, voice);
    case 'check':
      return await (await import('./check-stage.ts')).checkStage(task, voice, level);
  }
}

/** Run the task of a line and write its result. */
async function runTask(line: string): Promise<void> {
  let least = 0;
  const voice: StageReporter = {
    progress(fraction, bytes) {
      if (fraction < least) return;
      least = fraction + 0.01;
      write({ progress: fraction, ...(bytes !== undefined && { bytes }) });
    },
    say: (text) => write({ say: text }),
  };
  const task = StageTask.parse(JSON.parse(line));
  const answer = await answerTo(task, voice);
  write({ answer, peak_memory_bytes: await thisHost.peakBytes() });
}

/**
 * Run a stage's process: read one task per line from standard input, run it, and write its result to descriptor 3.
 * Output of libraries goes to standard error. End the process after the last task or an error, so no native thread
 * can keep it alive.
 */
export async function runStage(): Promise<void> {
  // If it cannot be loaded, the first session says why.
  if (process.argv.includes(sessionFlag)) silentRuntime().catch(() => {});
  try {
    for await (const line of createInterface({ input: process.stdin })) {
      thisHost.forgetPeak();
      await runTask(line);
    }
    process.exit(0);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    const isExpected = error instanceof ModelError;
    write({ fault, ...(!isExpected && error instanceof Error && { stack: error.stack ?? '' }) });
    process.exit(1);
  }
}
