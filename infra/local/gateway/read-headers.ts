import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { headMaxBytes, headTooLarge } from './client-error.ts';

/** Return the header lines in pairs. @throws ServiceError where they are too large or name no host of this server */
export function readHeaders(request: IncomingMessage, admits: (host: string) => boolean): [string, string][] {
  const { method = '', url = '', rawHeaders } = request;
  const pairs: [string, string][] = [];
  const hosts: string[] = [];
  // "GET /path HTTP/1.1" and the blank line at the end; node hands over header bytes as latin1, one unit each.
  let bytes = method.length + url.length + 12 + 2;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    bytes += name.length + value.length + 4;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts.push(value);
    pairs.push([name, value]);
  }
  if (bytes > headMaxBytes) throw headTooLarge();
  const [host] = hosts;
  if (host === undefined || hosts.length > 1) {
    throw new ServiceError('bad-request', 'A request must have one Host header.');
  }
  if (!admits(host)) {
    throw new ServiceError(
      'forbidden',
      'The Host header does not name this server; call it by its own address.',
    );
  }
  return pairs;
}
