import { open } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { SendFile } from '../send-upload.ts';
import { readBlocks } from './read-blocks.ts';

export interface FileUpload {
  path: string;
  /** First byte to send: 0 unless only a part of the file is sent. */
  start?: number;
  /** Bytes to send. A file that changes its size during the upload is refused. */
  size: number;
  /** Called with the number of bytes sent. */
  onProgress?(bytes: number): void;
  signal?: AbortSignal;
}

/** Idle timeout of a connection in milliseconds, in both directions. */
const maxIdle = 120_000;

/** Resolve when the operating system has accepted the bytes. */
const written = (request: ClientRequest, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    request.write(bytes, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });

async function sendBody(
  request: ClientRequest,
  lost: Promise<never>,
  { path, start = 0, size, onProgress, signal }: FileUpload,
): Promise<void> {
  await using file = await open(path);
  let sent = 0;
  for await (const block of readBlocks(file, { start, size, signal })) {
    await Promise.race([written(request, block), lost]);
    sent += block.length;
    onProgress?.(sent);
  }
  request.end();
}

/** Send a file from disk without reading it whole into memory. `fetch` cannot do this with a `Content-Length`. */
export const sendFile =
  (upload: FileUpload): SendFile =>
  async ({ url, method, headers }) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(url, {
      method,
      headers: { ...headers, 'Content-Length': upload.size },
      ...(upload.signal !== undefined && { signal: upload.signal }),
    });
    // Around the end of a connection Node drops written bytes and never calls back. The end may come between two writes.
    const lost = new Promise<never>((_, reject) => {
      request.once('close', () => reject(new Error('the connection was lost')));
    });
    lost.catch(() => {});
    request.setTimeout(maxIdle, () => request.destroy(new Error('the connection went silent')));
    const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
      });
    });
    // Storage may refuse before it has read everything. Its answer explains more than the broken pipe.
    const sent = sendBody(request, lost, upload).catch((error: unknown) => error);
    try {
      return await Promise.race([
        answered,
        sent.then((error) => (error === undefined ? answered : Promise.reject(error))),
      ]);
    } finally {
      request.destroy();
      await sent;
      answered.catch(() => {});
    }
  };
