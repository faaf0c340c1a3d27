import { constants } from 'node:os';
import { CommandError } from '../../command/parse-command.ts';
import { errorStack } from '../../core/error-text.ts';
import type { Conclusion } from '../../jobs/conclusion.ts';
import { parseJobRecord, unfinishedJobOf } from '../../jobs/job-record.ts';
import { cancelledReason } from '../../jobs/reasons.ts';
import { ModelError } from '../../onnx/model/model-error.ts';
import type { Outcome } from '../../process/supervise.ts';
import type { HeldJob } from './hold-job.ts';
import { JobError } from './job-error.ts';
import type { StopReason } from './job-stop.ts';
import { retryFor, shortPatience } from './retry-for.ts';

/** A cancelled job, with the user who cancelled it if known. */
interface Cancelled {
  by: string | null;
}

/** Facts that determine the conclusion in addition to the command's outcome. */
interface Circumstances {
  stop: StopReason | undefined;
  /** Who cancelled the job; undefined if nobody did. */
  cancelled: Cancelled | undefined;
  /** Timeout of the command, in seconds. */
  timeout: number;
  /** Memory of the job, in MiB. */
  memory: number;
  /** The error that the command printed last. */
  crash?: string | undefined;
  /** What helps against that error. */
  hint?: string | undefined;
}

/** Exit code with which shells and many programs report a child killed by SIGKILL: 128 plus the signal number. */
const killedExitCode = 128 + constants.signals.SIGKILL;

/**
 * Return the conclusion of a job whose command has ended. The exit code decides, unless the command was stopped.
 * @returns undefined if no conclusion may be written: another container holds the lease, or Batch decides on
 * another attempt
 */
export function conclusionOf(outcome: Outcome, circumstances: Circumstances): Conclusion | undefined {
  if (circumstances.stop?.kind === 'superseded') return undefined;
  switch (outcome.cause) {
    case 'exited': {
      const { exitCode } = outcome;
      if (exitCode === 0) return { status: 'SUCCEEDED', reason: null, exitCode };
      const cause =
        exitCode === killedExitCode ? ' Shells give it for a process that was killed (signal 9).' : '';
      const ended = `The command ended with exit code ${exitCode}.${cause}`;
      const { crash, hint } = circumstances;
      const reason = [crash, hint, ended].filter((text) => text !== undefined).join('\n');
      return { status: 'FAILED', reason, exitCode };
    }
    case 'signalled': {
      const { signal } = outcome;
      const reason =
        signal === 'SIGKILL' ? 'The command was killed (signal 9).' : `The command was ended by ${signal}.`;
      return { status: 'FAILED', reason, signal };
    }
    case 'not-started':
      return { status: 'FAILED', reason: `The command could not be started: ${outcome.message}.` };
    case 'timeout': {
      const { exitCode, signal } = outcome;
      const reason = `The command was stopped at its timeout of ${circumstances.timeout} s.`;
      return { status: 'FAILED', reason, exitCode, signal };
    }
    case 'out-of-memory': {
      const { exitCode, signal, by } = outcome;
      const { memory } = circumstances;
      const reason =
        by === 'limit'
          ? `The command exceeded its ${memory} MiB of memory and was ended.`
          : `The command was killed (signal 9) when the kernel ran out of memory and ended processes. The memory of the job is ${memory} MiB.`;
      return { status: 'FAILED', reason, exitCode, signal };
    }
    case 'stopped':
      return conclusionOfStop(outcome, circumstances);
  }
}

type Stopped = Pick<Extract<Outcome, { killed: boolean }>, 'exitCode' | 'signal' | 'killed'>;

/** Undefined if the host is being stopped, and Batch decides about another attempt. */
function conclusionOfStop(
  { exitCode, signal, killed }: Stopped,
  { stop, cancelled }: Circumstances,
): Conclusion | undefined {
  if (stop?.kind === 'early')
    return {
      status: 'CANCELLED',
      reason: stop.message,
      exitCode,
      signal,
      change: { stopped_early: true },
    };
  if (stop?.kind === 'rule')
    return {
      status: 'CANCELLED',
      reason: stop.message,
      exitCode,
      signal,
      isStopped: true,
      change: { ...stop.change, stopped_early: true },
    };
  if (stop?.kind === 'budget')
    return { status: 'CANCELLED', reason: stop.message, exitCode, signal, isStopped: true };
  if (stop?.kind === 'limit' || (stop?.kind === 'peer' && cancelled === undefined))
    return { status: 'FAILED', reason: stop.message, exitCode, signal };
  if (cancelled === undefined) return undefined;
  const end = killed ? ' It did not stop in time and was killed.' : '';
  return { status: 'CANCELLED', reason: `${cancelledReason(cancelled.by)}${end}`, exitCode, signal };
}

const stoppedBeforeCommand = {
  cause: 'stopped',
  exitCode: null,
  signal: null,
  killed: false,
  peakRssBytes: null,
} as const;

/**
 * Return the conclusion of a job that ended with an error. If the job was stopped, the stop decides, because the
 * error is its consequence. Internal errors go to the log, and the user gets only their name.
 * @returns undefined if no conclusion may be written: another container holds the lease, or Batch decides on
 * another attempt
 */
export async function conclusionOfError(job: HeldJob, error: unknown): Promise<Conclusion | undefined> {
  const { stop, log } = job;
  if (stop.reason !== undefined) {
    const { timeout, memory } = job.record;
    const cancelled = await findCancelled(job);
    return conclusionOf(stoppedBeforeCommand, { stop: stop.reason, cancelled, timeout, memory });
  }
  if (error instanceof JobError || error instanceof CommandError || error instanceof ModelError)
    return { status: 'FAILED', reason: error.message };
  log.error('job-fault', { stack: errorStack(error) });
  const name = error instanceof Error ? error.name : 'unknown';
  return {
    status: 'FAILED',
    reason: `The service could not continue this job (${name}). The service's log has the details.`,
  };
}

/** Read the record again, and return who cancelled the job or deleted its record; undefined if nobody did. */
export async function findCancelled({ records, record }: HeldJob): Promise<Cancelled | undefined> {
  const item = await retryFor(shortPatience, () => records.get(unfinishedJobOf(record).subject));
  if (item === undefined) return { by: null };
  const { cancel_requested_at, cancelled_by } = parseJobRecord(item);
  return cancel_requested_at === null ? undefined : { by: cancelled_by };
}
