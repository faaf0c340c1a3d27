import { ServiceError } from '../../../shared/core/service-error.ts';
import { type Rate, TokenBucket } from './token-bucket.ts';

/** How much the gateway takes on. */
export interface AdmissionLimits extends Rate {
  /** Most requests that functions work on at once. */
  inFlight: number;
  /** Most requests that wait for one of those to be done. */
  waiting: number;
}

/**
 * The rate is far more than a team's clients ask for. The number of requests in work bounds the load: the last one
 * waits for a fraction of a second. Few are worked on at once, because libuv (1.52) takes one new connection each
 * time around its loop: when that has the answers of many requests to go through each time, connections wait for
 * seconds.
 */
export const defaultLimits: AdmissionLimits = { perSecond: 2_000, burst: 4_000, inFlight: 24, waiting: 40 };

/** By then those of a moment ago are done. */
const busySeconds = 1;

/** 429 that asks to wait for so many seconds. */
export function throttled(seconds: number): ServiceError {
  const whole = Math.max(1, Math.ceil(seconds));
  return new ServiceError(
    'too-many-requests',
    `This service takes no more requests at the moment; try again in ${whole} s.`,
    { retryAfterSeconds: whole },
  );
}

function busy(): ServiceError {
  return new ServiceError(
    'unavailable',
    `The service works on as many requests as it can; try again in ${busySeconds} s.`,
    { retryAfterSeconds: busySeconds },
  );
}

/**
 * Limits in front of the functions, as the throttle of a stage and the concurrency of functions on AWS: requests
 * beyond them are refused at once, so that an overload does not slow down all others.
 */
export class Admission {
  readonly #bucket: TokenBucket;
  readonly #limits: AdmissionLimits;
  readonly #waiting: (() => void)[] = [];
  #inFlight = 0;

  constructor(limits: AdmissionLimits) {
    this.#bucket = new TokenBucket(limits);
    this.#limits = limits;
  }

  /** Count a request. @throws ServiceError 429 for too many a second, 503 while too many are processed */
  admit(): void {
    const seconds = this.#bucket.take();
    if (seconds > 0) throw throttled(seconds);
    this.#requirePlace();
  }

  /** Process a request, first come, first served. @throws ServiceError 503 when the slots were taken while its body arrived */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#requirePlace();
    if (this.#inFlight < this.#limits.inFlight) this.#inFlight += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The slot goes to the next request in the queue, not to a later one.
      if (next === undefined) this.#inFlight -= 1;
      else next();
    }
  }

  #requirePlace(): void {
    const { inFlight, waiting } = this.#limits;
    if (this.#inFlight >= inFlight && this.#waiting.length >= waiting) throw busy();
  }
}
