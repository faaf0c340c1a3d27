import { Problem } from '../../../shared/endpoint/problem.ts';
import { type Rate, TokenBucket } from './token-bucket.ts';

/** How much the gateway takes on. */
export interface AdmissionLimits extends Rate {
  /** Most requests that functions work on at once. */
  inFlight: number;
}

/**
 * Far more than a team's clients ask for, and enough for a page that loads everything at once. What a machine can
 * really do is bounded by `inFlight`: a request that waits behind 64 others is answered in a fraction of a second.
 */
export const defaultLimits: AdmissionLimits = { perSecond: 2_000, burst: 4_000, inFlight: 64 };

/** By then those of a moment ago are done. */
const busySeconds = 1;

function throttled(seconds: number): Problem {
  const whole = String(Math.max(1, Math.ceil(seconds)));
  return new Problem(
    'too-many-requests',
    `This service takes no more requests at the moment; try again in ${whole} s.`,
    { headers: { 'Retry-After': whole } },
  );
}

function busy(): Problem {
  return new Problem(
    'unavailable',
    `The service works on as many requests as it can; try again in ${busySeconds} s.`,
    { headers: { 'Retry-After': String(busySeconds) } },
  );
}

/**
 * What stands before the functions, as the throttle of a stage and the concurrency of functions do at AWS: more than
 * the limits is refused at once, so that an overload costs those who are too many, not everybody.
 */
export class Admission {
  readonly #bucket: TokenBucket;
  readonly #most: number;
  #inFlight = 0;

  constructor({ inFlight, ...rate }: AdmissionLimits) {
    this.#bucket = new TokenBucket(rate);
    this.#most = inFlight;
  }

  /** Counts a request. Throws 429 where there are too many a second, and 503 where too many are worked on. */
  admit(): void {
    const seconds = this.#bucket.take();
    if (seconds > 0) throw throttled(seconds);
    this.#requirePlace();
  }

  /** Works on a request. Throws 503 where the places were taken while its body came. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#requirePlace();
    this.#inFlight += 1;
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
    }
  }

  #requirePlace(): void {
    if (this.#inFlight >= this.#most) throw busy();
  }
}
