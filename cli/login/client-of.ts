import { Client } from '../../shared/client/client.ts';
import { version } from '../version.ts';
import { isLoopback } from './service-url.ts';

/** Patient enough for a service that starts anew, and no longer: somebody is waiting. */
const retries = { attempts: 5, seconds: 20 };
/** On one's own machine nothing is lost on the way: a service that is away is away. */
const localRetries = { attempts: 2, seconds: 20 };

/** A client of a service, with its token where there is one. */
export const clientOf = (url: string, token?: string): Client =>
  new Client({
    url,
    token,
    userAgent: `mps/${version}`,
    retries: isLoopback(new URL(url).hostname) ? localRetries : retries,
  });
