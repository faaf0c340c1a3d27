import type { Conclusion } from '../../jobs/conclusion.ts';

/** Reason for stopping a running job before its command has ended. */
export type StopReason =
  | { kind: 'signal' }
  /** Another container took the lease, or the job was ended. This container may write nothing more. */
  | { kind: 'superseded' }
  | { kind: 'limit'; message: string }
  /** A rule of its sweep ends it early. */
  | { kind: 'early'; message: string }
  /** A rule of the run is met. */
  | { kind: 'rule'; message: string; change: Conclusion['change'] }
  /** A budget is used up. */
  | { kind: 'budget'; message: string }
  /** Another node of the cluster failed or was lost. */
  | { kind: 'peer'; message: string };

/** Stops a job once, for the first reason. */
export class JobStop {
  readonly #controller = new AbortController();
  #reason: StopReason | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  because(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller.abort(reason);
  }
}

/** A stop that SIGTERM triggers. Without a handler, PID 1 of a container ignores SIGTERM. */
export function stopOnSigterm(): JobStop {
  const stop = new JobStop();
  process.on('SIGTERM', () => stop.because({ kind: 'signal' }));
  return stop;
}
