import { ServiceError } from '../../core/service-error.ts';
import { runStoppable, stopped } from '../../core/stop-signal.ts';

/** Limits of the heavy work of a process. */
export interface HeavyLimits {
  /** Maximum number of pieces in progress at the same time. */
  atOnce: number;
  /** Maximum number of pieces that wait for a free place. */
  waiting: number;
  /** Maximum number of requests of one caller, including those that share a piece. */
  perCaller: number;
}

interface Piece {
  key: string;
  /** Caller of its first request. */
  caller: string;
  work: () => Promise<unknown>;
  controller: AbortController;
  result: PromiseWithResolvers<unknown>;
  waiters: number;
}

/** The local gateway processes 24 requests at once. Heavy ones must leave places for the others, and one caller half of the heavy ones. */
export const heavyLimits: HeavyLimits = { atOnce: 2, waiting: 16, perCaller: 9 };

/** A request for a piece of heavy work. */
export interface HeavyRequest {
  /** Equal for requests with the same answer. */
  key: string;
  /** User id of the caller. */
  caller: string;
  /** Aborted when the request needs no response any more. */
  signal: AbortSignal;
}

const retrySeconds = 2;

/**
 * Work that grows with the data, a few pieces at a time. Requests with the same response share a piece. The piece
 * begins after all of them have arrived, so it sees every write acknowledged before. It stops at its next read
 * when no request waits for it any more.
 */
export class HeavyWork {
  readonly #limits: HeavyLimits;
  readonly #running = new Map<string, Piece>();
  readonly #waiting: Piece[] = [];
  readonly #callers = new Map<string, number>();

  constructor(limits = heavyLimits) {
    this.#limits = limits;
  }

  /**
   * Do a piece of work, or share one.
   * @throws ServiceError 429 for too many requests of one caller, 503 for too many of all; and what the work throws
   */
  async run<T>({ key, caller, signal }: HeavyRequest, work: () => Promise<T>): Promise<T> {
    if (signal.aborted) throw stopped();
    const asked = this.#callers.get(caller) ?? 0;
    if (asked >= this.#limits.perCaller) {
      throw new ServiceError(
        'too-many-requests',
        `You already have ${asked} long-running requests; try again in ${retrySeconds} s.`,
        { retryAfterSeconds: retrySeconds },
      );
    }
    const piece = this.#waiting.find((one) => one.key === key) ?? this.#enter({ key, caller }, work);
    this.#callers.set(caller, asked + 1);
    piece.waiters += 1;
    const given = Promise.withResolvers<never>();
    const giveUp = () => {
      piece.waiters -= 1;
      if (piece.waiters === 0) this.#stop(piece);
      given.reject(stopped());
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      // The cast holds: all requests that share a piece have the same answer type.
      return (await Promise.race([piece.result.promise, given.promise])) as T;
    } finally {
      signal.removeEventListener('abort', giveUp);
      const left = (this.#callers.get(caller) ?? 1) - 1;
      if (left > 0) this.#callers.set(caller, left);
      else this.#callers.delete(caller);
    }
  }

  /**
   * Put a new piece in line, and begin pieces while there are free places. @throws ServiceError 503 if the line is
   * full
   */
  #enter({ key, caller }: Pick<Piece, 'key' | 'caller'>, work: () => Promise<unknown>): Piece {
    const isFree = this.#running.size < this.#limits.atOnce && !this.#running.has(key);
    if (!isFree && this.#waiting.length >= this.#limits.waiting) {
      throw new ServiceError(
        'unavailable',
        `The service is processing its maximum number of long-running requests; try again in ${retrySeconds} s.`,
        { retryAfterSeconds: retrySeconds },
      );
    }
    const result = Promise.withResolvers<unknown>();
    // It may fail when no request waits for it any more.
    result.promise.catch(() => {});
    const piece: Piece = { key, caller, work, controller: new AbortController(), result, waiters: 0 };
    this.#waiting.push(piece);
    this.#begin();
    return piece;
  }

  /**
   * Begin the next pieces, first come, first served; those of callers with a running piece after the others. One that
   * equals a running piece waits for its end.
   */
  #begin(): void {
    while (this.#running.size < this.#limits.atOnce) {
      const ready = this.#waiting.filter(({ key }) => !this.#running.has(key));
      const busy = new Set([...this.#running.values()].map(({ caller }) => caller));
      const piece = ready.find(({ caller }) => !busy.has(caller)) ?? ready[0];
      if (piece === undefined) return;
      this.#waiting.splice(this.#waiting.indexOf(piece), 1);
      this.#running.set(piece.key, piece);
      void this.#work(piece);
    }
  }

  async #work({ key, work, controller, result }: Piece): Promise<void> {
    try {
      result.resolve(await runStoppable(controller.signal, work));
    } catch (error) {
      result.reject(error);
    } finally {
      this.#running.delete(key);
      this.#begin();
    }
  }

  #stop(piece: Piece): void {
    const index = this.#waiting.indexOf(piece);
    if (index === -1) piece.controller.abort();
    else this.#waiting.splice(index, 1);
  }
}
