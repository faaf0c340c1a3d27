import { once } from 'node:events';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP } from 'node:net';
import { drawable } from '../drawing/drawn-text.ts';
import {
  bareHost,
  type ReceiverAddress,
  ReceiverError,
  type Resolve,
  receiverAddress,
} from './receiver-address.ts';

/** Seconds of one attempt: resolving, connecting, and the beginning of the answer. */
export const messageSeconds = 10;

/** Bytes of an answer that are read. */
const answerBytes = 4096;

/** A message to one receiver. */
export interface OutgoingMessage {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Answer of a receiver, or why there is none. Its text never contains the URL, which is a secret. */
export interface MessageAnswer {
  status: number | null;
  /** Sentence that says why it failed. Null for a success. */
  error: string | null;
  /** Seconds after which the receiver asks to be tried again. */
  retryAfter: number | undefined;
}

/**
 * Post a message to the receiver of a hook. Follow no redirect, and connect to the address that was checked, so a name
 * that resolves differently a moment later reaches nothing else. Never throws.
 */
export async function postMessage(
  message: OutgoingMessage,
  { admitted, resolve, seconds = messageSeconds }: PostOptions,
): Promise<MessageAnswer> {
  const signal = AbortSignal.timeout(seconds * 1000);
  try {
    const url = new URL(message.url);
    const address = await unlessAborted(receiverAddress(url, admitted, resolve), signal);
    return await send(url, address, message, signal);
  } catch (error) {
    return { status: null, error: faultText(error, signal, seconds), retryAfter: undefined };
  }
}

interface PostOptions {
  /** Receivers that may have any address: `HOOK_HOSTS`. */
  admitted: readonly string[];
  /** Default: the resolver of the system. */
  resolve?: Resolve | undefined;
  seconds?: number;
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function send(
  url: URL,
  { address, family }: ReceiverAddress,
  { headers, body }: OutgoingMessage,
  signal: AbortSignal,
): Promise<MessageAnswer> {
  const hostname = bareHost(url);
  const isSecure = url.protocol === 'https:';
  const request = (isSecure ? requestByHttps : requestByHttp)({
    host: address,
    family,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    setHost: false,
    headers: {
      ...headers,
      Host: url.host,
      'User-Agent': 'model-project-service',
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    },
    // The certificate is that of the name, not of the address.
    ...(isSecure && isIP(hostname) === 0 && { servername: hostname }),
    agent: false,
    signal,
  });
  request.end(body);
  try {
    const [answer] = (await once(request, 'response', { signal })) as [IncomingMessage];
    const text = await beginningOf(answer);
    const { statusCode: status = 0 } = answer;
    const error = status >= 200 && status < 300 ? null : refusal(status, text);
    return { status, error, retryAfter: secondsOf(answer.headers['retry-after']) };
  } finally {
    // An answer that never ends must not hold its connection.
    request.on('error', () => {});
    request.destroy();
  }
}

/** Read the first bytes of an answer. A receiver has answered with its status, however its body ends. */
async function beginningOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of answer) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= answerBytes) break;
    }
  } catch {
    // The status is known.
  }
  return Buffer.concat(parts).subarray(0, answerBytes).toString('utf8');
}

function refusal(status: number, text: string): string {
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}. Redirects are not followed; give the hook the new URL.`;
  const shown = drawable(
    text
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, shownCharacters),
  );
  return `The receiver answered ${status}${shown === '' ? '' : `: ${shown}`}.`;
}

/** Characters of a refusal that people see. */
const shownCharacters = 200;

const secondsOf = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) : undefined;

function faultText(error: unknown, signal: AbortSignal, seconds: number): string {
  if (error instanceof ReceiverError) return error.message;
  if (signal.aborted) return `The receiver did not answer within ${seconds} seconds.`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error';
  return `The connection failed with ${code}.`;
}
