import type { ParameterFault } from '../../core/service-error.ts';
import type { AnyEndpoint } from '../definition/exchange.ts';
import { type Event, headerLines } from '../pipeline/proxy-event.ts';

/** Printable ASCII. */
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/**
 * What is wrong with a request's `Idempotency-Key`. Signing in and out takes none: what is kept for a key must never
 * hold a token. Where nothing is created the header means nothing and is ignored.
 */
export function idempotencyKeyFaults(
  { path, idempotent }: Pick<AnyEndpoint, 'path' | 'idempotent'>,
  event: Event,
): ParameterFault[] {
  const [key, ...more] = headerLines(event, 'idempotency-key');
  if (key === undefined) return [];
  const fault = (message: string): ParameterFault[] => [{ in: 'header', name: 'Idempotency-Key', message }];
  if (path.startsWith('/auth/')) return fault('is not taken here, because no answer with a token is kept');
  if (idempotent === undefined || (more.length === 0 && keyPattern.test(key))) return [];
  return fault('must be given once, as 1 to 255 printable ASCII characters');
}
