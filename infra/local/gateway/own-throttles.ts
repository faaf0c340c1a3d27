import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';
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
