import type { IncomingMessage } from 'node:http';
import { Problem } from '../../../shared/endpoint/problem.ts';

/**
 * Lambda takes events of 6 MiB, in which the body stands in base64, beside at most 32 KiB of everything else
 * (10,240 bytes of headers, listed twice).
 */
export const bodyMaxBytes = Math.floor((6 * 1024 * 1024 - 32 * 1024) / 4) * 3;

/** The client went away before it had sent everything; there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

const tooLarge = () => new Problem('too-large', `The body is larger than ${bodyMaxBytes} bytes.`);

/** Whether a body may follow the headers, and needs to be waited for. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Throws 413 where the headers already announce too much. */
export function checkAnnouncedLength({ headers }: IncomingMessage): void {
  if (Number(headers['content-length'] ?? 0) > bodyMaxBytes) throw tooLarge();
}

/** The body of a request. Throws 413 as soon as more than the limit has come, having kept no more than that. */
export function receiveBody(request: IncomingMessage): Promise<Uint8Array> {
  checkAnnouncedLength(request);
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const stop = (error: Error) => {
      request.removeAllListeners('data');
      reject(error);
    };
    request.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > bodyMaxBytes) stop(tooLarge());
      else chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', () => stop(new ClientGone()));
    request.once('close', () => stop(new ClientGone()));
  });
}
