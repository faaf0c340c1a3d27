import type { AnyEndpoint } from '../../../shared/http/exchange.ts';
import { throttled } from './admission.ts';
import { TokenBucket } from './token-bucket.ts';

/** The throttles that operations have of their own, as methods have in a stage of API Gateway. */
export class OwnThrottles {
  readonly #times: number;
  readonly #buckets = new Map<AnyEndpoint, TokenBucket>();

  /** @param times factor on all of them */
  constructor(times: number) {
    this.#times = times;
  }

  /** Counts a request. Throws 429 where there are too many for the operation. */
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
