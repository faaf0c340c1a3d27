import { ServiceError } from '../../../shared/core/service-error.ts';
import { type Rate, TokenBucket } from '../../../shared/core/token-bucket.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';

/**
 * Limits in front of the functions, like the throttle of a stage and the concurrency of functions on AWS. Requests
 * beyond them are refused at once, so an overload does not slow down all other requests.
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

  /** Count a request. @throws ServiceError 429 for too many per second, 503 while too many are in progress */
  admit(): void {
    const seconds = this.#bucket.take();
    if (seconds > 0) throw throttled(seconds);
    this.#requirePlace();
  }

  /**
   * Process a request, first come, first served. @throws ServiceError 503 if the slots were taken while its body
   * arrived
   */
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

/** Limits of the gateway. */
export interface AdmissionLimits extends Rate {
  /** Maximum number of requests that functions process at once. */
  inFlight: number;
  /** Maximum number of waiting requests. */
  waiting: number;
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
export const defaultLimits: AdmissionLimits = { perSecond: 2_000, burst: 4_000, inFlight: 24, waiting: 40 };

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
