import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { diskFault } from '../../../shared/core/disk-fault.ts';
import { hasCode } from '../../../shared/host/has-code.ts';
import { answerPreflight, applyCors } from './bucket-cors.ts';
import { route } from './operations/route.ts';
import { Access } from './protocol/access.ts';
import { sendError } from './protocol/answer.ts';
import { type Authority, authenticateRequest } from './protocol/authenticate-request.ts';
import { S3Error } from './protocol/s3-error.ts';
import { parseRequest, type S3Request } from './protocol/s3-request.ts';
import type { Store } from './store/store.ts';

/** Serve HTTP requests from a store. The promise settles after the response was handed over; it never rejects. */
export function s3Listener(options: ListenerOptions) {
  return async (
    message: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
  ): Promise<void> => {
    const id = randomBytes(8).toString('hex').toUpperCase();
    response.setHeader('x-amz-request-id', id);
    // Users upload the files: a browser that opens one must neither guess its type nor run it.
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    // A client may close the connection during the response.
    response.on('error', () => response.destroy());
    try {
      await answer(parseRequest(id, message, response, expectsContinue), options);
    } catch (error) {
      if (!response.destroyed) sendError({ id, message, response }, asS3Error(error, id));
    }
  };
}

export interface ListenerOptions extends Authority {
  store: Store;
  corsOrigins: readonly string[];
}

async function answer(request: S3Request, options: ListenerOptions): Promise<void> {
  applyCors(request, options.corsOrigins);
  if (request.method === 'OPTIONS') {
    answerPreflight(request, options.corsOrigins);
    return;
  }
  const authenticated = authenticateRequest(request, options);
  const { headers } = authenticated;
  const { operation, action } = route(request.method, request, headers);
  const { response, bucket, key, query } = request;
  const access = new Access(authenticated.role);
  if (action !== undefined && key === '') access.requireBucket(action, bucket, query.get('prefix'));
  if (action !== undefined && key !== '') access.requireObject(action, request);
  try {
    await operation({
      request,
      response,
      authenticated,
      headers,
      store: options.store,
      region: options.region,
      access,
    });
  } catch (error) {
    throw access.ofMissing(error, bucket);
  }
}

function asS3Error(error: unknown, id: string): S3Error {
  if (error instanceof S3Error) return error;
  const fault = diskFault(error);
  if (fault === 'full') return new S3Error('ServiceUnavailable', 'The disk is full. Please try again later.');
  if (fault === 'damaged') {
    process.stderr.write('s3: index.sqlite is damaged. Stop the service. Its next start shows what to do.\n');
    return new S3Error('InternalError', 'The index of this server is damaged.');
  }
  if (wantsFiles(error)) {
    return new S3Error('ServiceUnavailable', 'Too many files are open. Please try again later.');
  }
  if (!isGone(error)) {
    process.stderr.write(
      `s3: request ${id} failed: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
  }
  return new S3Error('InternalError', 'We encountered an internal error. Please try again.');
}

const wantsFiles = (error: unknown): boolean => hasCode(error, 'EMFILE', 'ENFILE');

/** Whether the client closed the connection before the end of the response. */
const isGone = (error: unknown): boolean => hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE');
