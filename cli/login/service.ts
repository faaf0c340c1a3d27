import type { endpoint as readHealth } from '../../functions/service/read-health.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../../shared/client/unexpected-answer-error.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { version } from '../version.ts';

/**
 * Check that the service runs at a URL, before the user types a password for it.
 *
 * @throws UnreachableError if nothing answers
 * @throws UnexpectedAnswerError if something else answers
 */
export async function requireService(url: string): Promise<void> {
  const unexpectedAnswerError = new UnexpectedAnswerError(`${url} is not a Model Project Service.`);
  try {
    const { service } = await clientOf(url).call<typeof readHealth>('GET /health');
    if (service !== 'model-project-service') throw unexpectedAnswerError;
  } catch (error) {
    // A service that is temporarily unable to answer sends its own problem document.
    throw error instanceof ProblemError && error.kind === '' ? unexpectedAnswerError : error;
  }
}

/** Retries for a service on this machine, where a refused connection means that it does not run. */
const localRetries = { attempts: 2, seconds: 20 };

/** Retries: enough for a restart of the service, but short for a waiting user. */
const retries = { attempts: 5, seconds: 20 };

/** Create a client of a service, with a token if given. */
export const clientOf = (url: string, token?: string | (() => Promise<string>)): Client =>
  new Client({
    url,
    token,
    userAgent: `mps/${version}`,
    retries: isLoopback(new URL(url).hostname) ? localRetries : retries,
  });

/** Return whether a host name is this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

/** Default URL of `npm start`. */
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
