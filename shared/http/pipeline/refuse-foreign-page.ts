import { ServiceError } from '../../core/service-error.ts';
import type { Before } from '../definition/exchange.ts';
import { type Event, headerOf } from './proxy-event.ts';

/** Whether an `Origin` is the address that the request was sent to. Browsers leave out the port that a scheme implies. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const url = URL.parse(origin);
  if (url === null || host === undefined || !/^https?:$/.test(url.protocol)) return false;
  return url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}

/** Whether a page of an origin that is not listed sent the request. */
function isForeign(event: Event, origins: readonly string[]): boolean {
  const origin = headerOf(event, 'origin');
  if (origin !== undefined && origins.includes(origin)) return false;
  // Browsers send it to every https or loopback address, and no page can set it. `none` is the person themselves.
  const site = headerOf(event, 'sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && !isOwnOrigin(origin, headerOf(event, 'host'));
}

/**
 * Refuse writes by pages of other origins than `CORS_ORIGINS` and the service's own. Browsers send a form of any page
 * without asking first; it could not read the answer, but use up the attempts of the address that its reader sits at.
 * Clients that are no browsers send neither header and are admitted.
 *
 * @throws ServiceError 403
 */
export const refuseForeignPage: Before = ({ endpoint, event, platform: { settings } }) => {
  if (endpoint.method === 'GET' || !isForeign(event, settings.corsOrigins)) return;
  throw new ServiceError(
    'forbidden',
    'The request was sent by a page of another origin. Pages may write from the address of this service and from the origins that the deployment lists (corsOrigins).',
  );
};
