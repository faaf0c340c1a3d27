import type { endpoint as readHealth } from '../../functions/service/read-health.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../../shared/client/unexpected-answer-error.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { version } from '../version.ts';

/**
 * Make sure that a service is at an address, before anybody types a password for it.
 *
 * @throws UnreachableError where nothing answers
 * @throws UnexpectedAnswerError where something else does
 */
export async function requireService(url: string): Promise<void> {
  const other = new UnexpectedAnswerError(`${url} is not a Model Project Service.`);
  try {
    const { service } = await clientOf(url).call<typeof readHealth>('GET /health');
    if (service !== 'model-project-service') throw other;
  } catch (error) {
    // A service that is there and cannot answer now says so by a problem of its own.
    throw error instanceof ProblemError && error.kind === '' ? other : error;
  }
}

/** On the same machine a refused connection means that no service runs. */
const localRetries = { attempts: 2, seconds: 20 };

/** Long enough for a service to restart, and short enough for a person who waits. */
const retries = { attempts: 5, seconds: 20 };

/** A client of a service, with its token where there is one. */
export const clientOf = (url: string, token?: string): Client =>
  new Client({
    url,
    token,
    userAgent: `mps/${version}`,
    retries: isLoopback(new URL(url).hostname) ? localRetries : retries,
  });

/** Whether a host is this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

/** Where `npm start` listens unless it is told otherwise. */
export const localUrl = 'http://127.0.0.1:3000';

/** Parse and normalize a service URL. @throws CliError if it is invalid or would send a token in clear text */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CliError(
      `"${text}" is not a service URL: it must start with https:// or http://.`,
      exitCodes.usage,
    );
  if (url.username !== '' || url.password !== '')
    throw new CliError('The URL must not contain a user name or password.', exitCodes.usage);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new CliError(`${url.origin} would send your token in clear text. Use https://.`, exitCodes.usage);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
