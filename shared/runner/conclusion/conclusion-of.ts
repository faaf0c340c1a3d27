import { constants } from 'node:os';
import type { Conclusion } from '../../jobs/conclusion.ts';
import { cancelledReason, outOfMemory } from '../../jobs/reasons.ts';
import type { Outcome } from '../../process/supervise.ts';
import type { StopReason } from '../job/job-stop.ts';
import type { Cancelled } from './find-cancelled.ts';

const killed = `It was killed (SIGKILL), ${outOfMemory}.`;
/** Shells and many programs report a signal of a child as 128 + its number. */
const killedExitCode = 128 + constants.signals.SIGKILL;

/** Facts besides the outcome of the command that decide the conclusion. */
interface Circumstances {
  stop: StopReason | undefined;
  /** Who cancelled the job; undefined where nobody did. */
  cancelled: Cancelled | undefined;
  /** Timeout of the command, in seconds. */
  timeout: number;
  /** Memory of the job, in MiB. */
  memory: number;
  /** The error that the command printed last. */
  crash?: string | undefined;
}

type Stopped = Pick<Extract<Outcome, { killed: boolean }>, 'exitCode' | 'signal' | 'killed'>;

/** Undefined where the host is being stopped, and Batch decides on another attempt. */
function conclusionOfStop(
  { exitCode, signal, killed }: Stopped,
  { stop, cancelled }: Circumstances,
): Conclusion | undefined {
  if (stop?.kind === 'limit' || (stop?.kind === 'peer' && cancelled === undefined))
    return { status: 'FAILED', reason: stop.message, exitCode, signal };
  if (cancelled === undefined) return undefined;
  const end = killed ? ' It did not stop in time and was killed.' : '';
  return { status: 'CANCELLED', reason: `${cancelledReason(cancelled.by)}${end}`, exitCode, signal };
}

/**
 * The conclusion of a job whose command has ended: the exit code decides, unless the command was stopped.
 * @returns undefined where nothing may be written: another container holds the lease, or Batch decides on another attempt
 */
export function conclusionOf(outcome: Outcome, circumstances: Circumstances): Conclusion | undefined {
  if (circumstances.stop?.kind === 'superseded') return undefined;
  switch (outcome.cause) {
    case 'exited': {
      const { exitCode } = outcome;
      if (exitCode === 0) return { status: 'SUCCEEDED', reason: null, exitCode };
      const hint = exitCode === killedExitCode ? ` ${killed}` : '';
      const ended = `The command ended with exit code ${exitCode}.${hint}`;
      const { crash } = circumstances;
      return { status: 'FAILED', reason: crash === undefined ? ended : `${crash}\n${ended}`, exitCode };
    }
    case 'signalled': {
      const { signal } = outcome;
      const reason = signal === 'SIGKILL' ? killed : `The command was ended by ${signal}.`;
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
      const { exitCode, signal } = outcome;
      const reason = `The command needed more than its ${circumstances.memory} MiB of memory and was ended.`;
      return { status: 'FAILED', reason, exitCode, signal };
    }
    case 'stopped':
      return conclusionOfStop(outcome, circumstances);
  }
}
