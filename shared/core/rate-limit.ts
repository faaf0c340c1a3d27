/** The token bucket that throttles a stage of API Gateway. It starts full, and a request takes one token. */
export class TokenBucket {
  readonly #rate: Rate;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now returns milliseconds */
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

export interface Rate {
  /** Tokens added per second. */
  perSecond: number;
  /** Maximum number of tokens. */
  burst: number;
}
