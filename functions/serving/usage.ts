import type { Settings } from '../../shared/core/settings.ts';
import type { ServedVersion } from '../../shared/data/models/serving.ts';
import {
  addServingCounts,
  latencyBucket,
  monthOf,
  type ServingCounts,
} from '../../shared/data/models/serving-counts.ts';
import type { ServingContext } from './serving-needs.ts';

/** What one request adds to the counters. */
interface Measured {
  milliseconds: number;
  isCold: boolean;
  isError: boolean;
}

type Services = Pick<ServingContext, 'served' | 'log'>;

const usages = new WeakMap<Settings, Usage>();

/** The counters of this function. */
export function usageOf({ settings }: Pick<ServingContext, 'settings'>): Usage {
  const present = usages.get(settings) ?? new Usage();
  usages.set(settings, present);
  return present;
}

/**
 * Counts requests in memory and adds them to the table at most once a second for each version: a write of each request
 * would cost more than the request. An instance that ends loses the counts of its last second at most.
 */
export class Usage {
  readonly #counted = new Map<string, { model_id: string; name: string; counts: Mutable<ServingCounts> }>();
  #writtenAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  async note(
    { model_id, name }: Pick<ServedVersion, 'model_id' | 'name'>,
    { milliseconds, isCold, isError }: Measured,
    services: Services,
  ): Promise<void> {
    const key = `${model_id} ${name}`;
    const one = this.#counted.get(key) ?? {
      model_id,
      name,
      counts: { requests: 0, errors: 0, cold_starts: 0, billed_milliseconds: 0, latencies: {} },
    };
    this.#counted.set(key, one);
    const bucket = latencyBucket(milliseconds);
    one.counts.requests += 1;
    one.counts.errors += isError ? 1 : 0;
    one.counts.cold_starts += isCold ? 1 : 0;
    one.counts.billed_milliseconds += Math.ceil(milliseconds);
    one.counts.latencies = { ...one.counts.latencies, [bucket]: (one.counts.latencies[bucket] ?? 0) + 1 };
    if (performance.now() - this.#writtenAt >= everyMilliseconds) await this.#write(services);
    else {
      // A process that lives on between requests writes the rest; Lambda stops its timers.
      this.#timer ??= setTimeout(() => void this.#write(services), everyMilliseconds);
      this.#timer.unref();
    }
  }

  /** Write all counts. A failure is logged: no request fails because of its counters. */
  async #write({ served, log }: Services): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writtenAt = performance.now();
    const all = [...this.#counted.values()];
    this.#counted.clear();
    const month = monthOf(new Date());
    try {
      await Promise.all(
        all.map(({ model_id, name, counts }) =>
          served.write(addServingCounts(model_id, month, name, counts)),
        ),
      );
    } catch (error) {
      log.warn('serving-counts-lost', { detail: String(error) });
    }
  }
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const everyMilliseconds = 1_000;
