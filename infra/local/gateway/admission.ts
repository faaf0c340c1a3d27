import { type Rate, TokenBucket } from '../../../shared/core/rate-limit.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { Park } from '../../../shared/http/pipeline/proxy-event.ts';

/**
 * Limits in front of the functions, like the throttle of a stage and the concurrency of functions on AWS. Requests
 * beyond them are refused at once, so an overload does not slow down all other requests.
 *
 * Askers are accounts, or addresses of requests without a known account. While others wait, each gets at most half of
 * the places, they take turns, and in a full line the one with the most requests loses its last one. Once there is more
 * than one asker, each gets at most half of the rate.
 */
export class Admission {
  readonly #bucket: TokenBucket;
  readonly #limits: AdmissionLimits;
  /** Buckets of the latest askers, the latest last. */
  readonly #shares = new Map<string, TokenBucket>();
  readonly #running = new Map<string, number>();
  /** Waiting requests by asker. The first asker has the next turn. */
  readonly #waiting = new Map<string, PromiseWithResolvers<void>[]>();
  readonly #parked = new Map<string, number>();
  readonly #closing = new AbortController();
  #inFlight = 0;
  #inLine = 0;

  constructor(limits: AdmissionLimits) {
    this.#bucket = new TokenBucket(limits);
    this.#limits = limits;
  }

  /** Count a request. @throws ServiceError 429 for too many per second, 503 while too many are in progress */
  admit(asker: string): void {
    const share = this.#shareOf(asker);
    const own = share.take();
    // A share is known only of askers who share with others.
    const seconds = own > 0 && this.#shares.size > 1 ? own : this.#bucket.take();
    if (seconds > 0) throw throttled(seconds);
    this.#requirePlace(asker);
  }

  #shareOf(asker: string): TokenBucket {
    const { perSecond, burst } = this.#limits;
    const share =
      this.#shares.get(asker) ?? new TokenBucket({ perSecond: perSecond / 2, burst: Math.ceil(burst / 2) });
    this.#shares.delete(asker);
    this.#shares.set(asker, share);
    const [oldest] = this.#shares.keys();
    if (this.#shares.size > maxShares && oldest !== undefined) this.#shares.delete(oldest);
    return share;
  }

  /**
   * Process a request. `park` lets it wait for something without its place.
   * @throws ServiceError 503 if the places are taken, also while it waits for one
   */
  async run<T>(asker: string, work: (park: Park) => Promise<T>): Promise<T> {
    const turn = this.#enter(asker);
    // A request that need not wait begins now.
    if (turn !== undefined) await turn;
    let isIn = true;
    const park: Park = async (wait) => {
      const parked = this.#parked.get(asker) ?? 0;
      if (parked >= this.#limits.parked || this.#closing.signal.aborted) return false;
      this.#parked.set(asker, parked + 1);
      this.#end(asker);
      isIn = false;
      try {
        await wait(this.#closing.signal);
      } finally {
        const left = (this.#parked.get(asker) ?? 1) - 1;
        if (left > 0) this.#parked.set(asker, left);
        else this.#parked.delete(asker);
      }
      await this.#enter(asker);
      isIn = true;
      return true;
    };
    try {
      return await work(park);
    } finally {
      if (isIn) this.#end(asker);
    }
  }

  /** End the wait of parked requests; further ones do not wait. */
  close(): void {
    this.#closing.abort();
  }

  #enter(asker: string): Promise<void> | undefined {
    this.#requirePlace(asker);
    if (this.#inFlight >= this.#limits.inFlight) return this.#wait(asker);
    this.#begin(asker);
    return undefined;
  }

  #begin(asker: string): void {
    this.#inFlight += 1;
    this.#running.set(asker, (this.#running.get(asker) ?? 0) + 1);
  }

  #wait(asker: string): Promise<void> {
    const turn = Promise.withResolvers<void>();
    this.#waiting.set(asker, [...(this.#waiting.get(asker) ?? []), turn]);
    this.#inLine += 1;
    if (this.#inLine > this.#limits.waiting) this.#dropLastOf(this.#greediest());
    return turn.promise;
  }

  /** Free a place, and give it to the next asker in turn who has less than half of them. */
  #end(asker: string): void {
    this.#inFlight -= 1;
    const left = (this.#running.get(asker) ?? 1) - 1;
    if (left > 0) this.#running.set(asker, left);
    else this.#running.delete(asker);
    const half = this.#limits.inFlight / 2;
    const askers = [...this.#waiting.keys()];
    const next = askers.find((one) => (this.#running.get(one) ?? 0) < half) ?? askers[0];
    if (next === undefined) return;
    const [turn, ...others] = this.#waiting.get(next) ?? [];
    this.#leave(next, others);
    this.#begin(next);
    turn?.resolve();
  }

  /** Keep the requests of an asker that still wait, for its next turn. */
  #leave(asker: string, others: PromiseWithResolvers<void>[]): void {
    this.#inLine -= 1;
    this.#waiting.delete(asker);
    if (others.length > 0) this.#waiting.set(asker, others);
  }

  #dropLastOf(asker: string): void {
    const turns = this.#waiting.get(asker) ?? [];
    const last = turns.pop();
    this.#inLine -= 1;
    if (turns.length === 0) this.#waiting.delete(asker);
    last?.reject(busy());
  }

  /** Asker with the most waiting requests. */
  #greediest(): string {
    let [greediest, most] = ['', 0];
    for (const [asker, { length }] of this.#waiting) if (length > most) [greediest, most] = [asker, length];
    return greediest;
  }

  /** A full line has a place for an asker with at least two requests fewer than the greediest. */
  #requirePlace(asker: string): void {
    const { inFlight, waiting } = this.#limits;
    if (this.#inFlight < inFlight || this.#inLine < waiting) return;
    const own = this.#waiting.get(asker)?.length ?? 0;
    const most = this.#waiting.get(this.#greediest())?.length ?? 0;
    if (own + 1 >= most) throw busy();
  }
}

/** Askers whose share of the rate is known. */
const maxShares = 1_000;

/** Limits of the gateway. */
export interface AdmissionLimits extends Rate {
  /** Maximum number of requests that functions process at once. */
  inFlight: number;
  /** Maximum number of waiting requests. */
  waiting: number;
  /** Maximum number of requests of one asker that wait for news without a place. */
  parked: number;
}

/** Return a 429 error with a time to wait in seconds. */
function throttled(seconds: number): ServiceError {
  const whole = Math.max(1, Math.ceil(seconds));
  return new ServiceError(
    'too-many-requests',
    `The service accepts no more requests at the moment; try again in ${whole} s.`,
    { retryAfterSeconds: whole },
  );
}

/** Seconds after which a refused client should retry. */
const busySeconds = 1;

function busy(): ServiceError {
  return new ServiceError(
    'unavailable',
    `The service is processing its maximum number of requests; try again in ${busySeconds} s.`,
    { retryAfterSeconds: busySeconds },
  );
}

/**
 * The rate is far above the requests of a team's clients. The number of requests in progress bounds the load: the
 * last one waits for a fraction of a second. The number is low, because libuv (1.52) accepts one new connection
 * per loop iteration. If each iteration processes the responses of many requests, connections wait for seconds.
 */
export const defaultLimits: AdmissionLimits = {
  perSecond: 2_000,
  burst: 4_000,
  inFlight: 24,
  waiting: 40,
  parked: 32,
};

/** The throttles of single operations, like those of methods in a stage of API Gateway. */
export class OwnThrottles {
  readonly #times: number;
  readonly #buckets = new Map<AnyEndpoint, TokenBucket>();

  /** @param times factor on all throttles */
  constructor(times: number) {
    this.#times = times;
  }

  /** Count a request. @throws ServiceError 429 for too many requests to the operation */
  take(endpoint: AnyEndpoint): void {
    const { throttle } = endpoint;
    if (throttle === undefined) return;
    let bucket = this.#buckets.get(endpoint);
    if (bucket === undefined) {
      const { perSecond, burst } = throttle;
      bucket = new TokenBucket({ perSecond: perSecond * this.#times, burst: burst * this.#times });
      this.#buckets.set(endpoint, bucket);
    }
    const seconds = bucket.take();
    if (seconds > 0) throw throttled(seconds);
  }
}
