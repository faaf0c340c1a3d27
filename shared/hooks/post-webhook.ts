import { drawable } from '../drawing/drawn-text.ts';
import { pinnedRequest } from '../outgoing/pinned-request.ts';
import { ReceiverError, type Resolve } from '../outgoing/receiver-address.ts';

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
  { url, headers, body }: OutgoingMessage,
  { admitted, resolve, seconds = messageSeconds }: PostOptions,
): Promise<MessageAnswer> {
  const signal = AbortSignal.timeout(seconds * 1000);
  try {
    const request = { url: new URL(url), method: 'POST', headers, body } as const;
    const answer = await pinnedRequest(request, { admitted, resolve, signal, maxBytes: answerBytes });
    const { status } = answer;
    const error = status >= 200 && status < 300 ? null : refusal(status, answer.bytes.toString('utf8'));
    return { status, error, retryAfter: secondsOf(answer.headers['retry-after']) };
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
