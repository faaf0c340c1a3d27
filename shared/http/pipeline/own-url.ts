import { ServiceError } from '../../core/service-error.ts';
import type { Settings } from '../../core/settings.ts';
import type { Event } from './proxy-event.ts';

/**
 * Return the URL of the service that received a request, without a trailing slash. It comes from the settings, or from
 * what API Gateway states of the request, never from a header: tokens of other services name other URLs.
 * @param path path of the endpoint, which has no variables
 * @throws ServiceError `unavailable` if neither states it
 */
export function ownUrl(
  { requestContext: { domainName, path } }: Event,
  endpointPath: string,
  { serviceUrl }: Pick<Settings, 'serviceUrl'>,
): string {
  if (serviceUrl !== undefined) return serviceUrl;
  if (domainName === undefined)
    throw new ServiceError('unavailable', 'This service does not know its own URL. Set SERVICE_URL.', {
      retryAfterSeconds: 60,
    });
  // Before the path of the endpoint come the stage, or the path that a custom domain maps.
  return `https://${domainName}${path.slice(0, path.lastIndexOf(endpointPath)).replace(/\/+$/, '')}`;
}
