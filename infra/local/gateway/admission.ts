import { ServiceError } from '../../../shared/core/service-error.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';

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

/** The token bucket by which a stage of API Gateway throttles: full at first, one token a request. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** `now` returns milliseconds. */
  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
    this.#tokens = rate.burst;
    this.#filledAt = now();
  }

  /** Take a token and return 0, or take none and return the seconds until there is one. */
  take(): number {
    const { perSecond, burst } = this.#rate;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    if (this.#tokens < 1) return (1 - this.#tokens) / perSecond;
    this.#tokens -= 1;
    return 0;
  }
}

interface Rate {
  /** Tokens that come back every second. */
  perSecond: number;
  /** Most tokens at once. */
  burst: number;
}

/** How much the gateway takes on. */
export interface AdmissionLimits extends Rate {
  /** Most requests that functions work on at once. */
  inFlight: number;
  /** Most requests that wait for one of those to be done. */
  waiting: number;
}

/** 429 that asks to wait for so many seconds. */
function throttled(seconds: number): ServiceError {
  const whole = Math.max(1, Math.ceil(seconds));
  return new ServiceError(
    'too-many-requests',
    `This service takes no more requests at the moment; try again in ${whole} s.`,
    { retryAfterSeconds: whole },
  );
}

/** Seconds after which a refused client should retry. */
const busySeconds = 1;

function busy(): ServiceError {
  return new ServiceError(
    'unavailable',
    `The service works on as many requests as it can; try again in ${busySeconds} s.`,
    { retryAfterSeconds: busySeconds },
  );
}

/**
 * The rate is far more than a team's clients ask for. The number of requests in work bounds the load: the last one
 * waits for a fraction of a second. Few are worked on at once, because libuv (1.52) takes one new connection each
 * time around its loop: when that has the answers of many requests to go through each time, connections wait for
 * seconds.
 */
export const defaultLimits: AdmissionLimits = { perSecond: 2_000, burst: 4_000, inFlight: 24, waiting: 40 };

/** The throttles that operations have of their own, as methods have in a stage of API Gateway. */
export class OwnThrottles {
  readonly #times: number;
  readonly #buckets = new Map<AnyEndpoint, TokenBucket>();

  /** @param times factor on all of them */
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
