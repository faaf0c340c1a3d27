import { constants } from 'node:os';
import type { Conclusion } from '../../jobs/conclude.ts';
import type { Outcome } from '../../process/supervise.ts';
import type { StopReason } from '../job/job-stop.ts';

const killed = 'It was killed (SIGKILL), mostly for want of memory.';
/** Shells and many programs report a signal of a child as 128 + its number. */
const killedExitCode = 128 + constants.signals.SIGKILL;

/** What else has to do with how a job concludes. */
interface Circumstances {
  stop: StopReason | undefined;
  /** Whether a user wished it to end. */
  cancelled: boolean;
  /** Seconds that the command was given. */
  timeout: number;
  /** MiB that it was given. */
  memory: number;
  /** The error that the command named as it crashed. */
  crash?: string | undefined;
}

type Stopped = Pick<Extract<Outcome, { killed: boolean }>, 'exitCode' | 'signal' | 'killed'>;

/** Undefined when the host is going away and Batch decides whether to try again. */
function conclusionOfStop(
  { exitCode, signal, killed }: Stopped,
  { stop, cancelled }: Circumstances,
): Conclusion | undefined {
  if (stop?.kind === 'limit' || (stop?.kind === 'peer' && !cancelled))
    return { status: 'FAILED', reason: stop.message, exitCode, signal };
  if (!cancelled) return undefined;
  const how = killed ? 'It did not stop in time and was killed.' : 'It stopped by itself.';
  return { status: 'CANCELLED', reason: `Cancelled by a user. ${how}`, exitCode, signal };
}

/**
 * What becomes of a job when its command has ended: the exit code decides, unless it was stopped. Undefined when
 * nothing may be written, because somebody else holds the lease or Batch has the word.
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
