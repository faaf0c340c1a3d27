import { CliError, exitCodes } from '../cli-error.ts';

/** Where `npm start` listens unless it is told otherwise. */
export const localUrl = 'http://127.0.0.1:3000';

/** Whether a host is this machine. */
export const isLoopback = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);

/** A base address as it is compared and used. @throws CliError for what is none, or would send a token in clear text */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CliError(
      `"${text}" is no address of a service: it must begin with https:// or http://.`,
      exitCodes.usage,
    );
  if (url.username !== '' || url.password !== '')
    throw new CliError('The address must hold neither name nor password.', exitCodes.usage);
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new CliError(`${url.origin} would send your token in clear text. Use https://.`, exitCodes.usage);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
