/** Why a running job has to stop before its command ends. */
export type StopReason =
  | { kind: 'signal' }
  /** Another container took the lease over, or the job was ended from outside: nothing may be written any more. */
  | { kind: 'superseded' }
  | { kind: 'limit'; message: string }
  /** Another node of the cluster failed or was lost. */
  | { kind: 'peer'; message: string };

/** Stops a job once, for the first reason that comes up. */
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
