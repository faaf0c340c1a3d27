import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { LargeBodies } from '../../../shared/http/definition/endpoint-input.ts';
import type { Result } from '../../../shared/http/pipeline/proxy-event.ts';

/** A request of the proxy's own, which the gateway makes in the name of the client. */
export type OwnCall = (path: string, body: object) => Promise<Result>;

/** Stream a body of known length to a presigned URL, and return the status of storage. */
async function put(body: IncomingMessage, url: string, length: number): Promise<number> {
  const sending = httpRequest(url, { method: 'PUT', headers: { 'content-length': length } });
  const answered = once(sending, 'response');
  // A failure is thrown by the pipeline.
  answered.catch(() => {});
  await pipeline(body, sending);
  const [answer]: IncomingMessage[] = await answered;
  answer?.resume();
  return answer?.statusCode ?? 0;
}

const bodyOf = ({ body, isBase64Encoded }: Result): unknown =>
  JSON.parse(Buffer.from(body, isBase64Encoded === true ? 'base64' : 'utf8').toString('utf8'));

/**
 * Take a body that no event could hold, as a client of a deployment would send it: ask for an upload, send the bytes to
 * storage, and say that they are there. No more of them than a buffer is in memory.
 */
export async function sendLargeBody(
  message: IncomingMessage,
  length: number,
  begin: NonNullable<ReturnType<LargeBodies['begin']>>,
  call: OwnCall,
): Promise<Result> {
  const begun = await call(begin.path, begin.body);
  if (begun.statusCode !== 200) return begun;
  const { url, path, body } = begin.proceed(bodyOf(begun));
  const status = await put(message, url, length);
  if (status !== 200)
    throw new ServiceError('unavailable', `Storage did not take the body (${status}). Try again.`);
  return call(path, body);
}
