import type { Settings } from '../../../shared/core/settings.ts';
import { roundedDollars } from '../../../shared/jobs/cost.ts';

/** US$ of requests that took so many milliseconds of the function together; null where compute is free. */
export function requestCost(
  { prices, serving }: Pick<Settings, 'prices' | 'serving'>,
  requests: number,
  milliseconds: number,
): number | null {
  if (prices?.serving === undefined) return null;
  const { request, gibSecond } = prices.serving;
  return roundedDollars(requests * request + (milliseconds / 1000) * (serving.memory / 1024) * gibSecond);
}

const hourMilliseconds = 3_600_000;

/**
 * Extrapolate the cost of this month until now to a whole month. A model that is served since a few minutes counts as
 * served for an hour.
 */
export function monthlyCost(cost: number | null, since: Date, now: Date): number | null {
  if (cost === null) return null;
  const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  const elapsed = Math.max(hourMilliseconds, now.getTime() - Math.max(begin, since.getTime()));
  return roundedDollars((cost * (end - begin)) / elapsed);
}
