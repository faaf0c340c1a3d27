import { open } from 'node:fs/promises';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { SendFile } from '../send-upload.ts';
import { readBlocks } from './read-blocks.ts';

export interface FileUpload {
  path: string;
  /** Where in the file to begin: 0 unless a part of it is sent. */
  start?: number;
  /** Bytes to send; a file that changes its size meanwhile is refused. */
  size: number;
  /** Told how many bytes have left. */
  onProgress?(bytes: number): void;
  signal?: AbortSignal;
}

/** Milliseconds without a byte either way after which a connection counts as lost. */
const maxIdle = 120_000;

/** Resolves when the system has taken the bytes over. */
const written = (request: ClientRequest, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    // Between the end of a connection and its event, Node drops what is written, and never calls back.
    const lose = () => reject(new Error('the connection was lost'));
    request.once('close', lose);
    request.write(bytes, (error) => {
      request.removeListener('close', lose);
      if (error) reject(error);
      else resolve();
    });
  });

async function sendBody(
  request: ClientRequest,
  { path, start = 0, size, onProgress, signal }: FileUpload,
): Promise<void> {
  await using file = await open(path);
  let sent = 0;
  for await (const block of readBlocks(file, { start, size, signal })) {
    await written(request, block);
    sent += block.length;
    onProgress?.(sent);
  }
  request.end();
}

/** Sends a file from disk, of which only a part is in memory at a time. `fetch` cannot: it would not name the size. */
export const sendFile =
  (upload: FileUpload): SendFile =>
  async ({ url, method, headers }) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(url, {
      method,
      headers: { ...headers, 'Content-Length': upload.size },
      ...(upload.signal !== undefined && { signal: upload.signal }),
    });
    request.setTimeout(maxIdle, () => request.destroy(new Error('the connection went silent')));
    const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
      });
    });
    // Storage that refuses answers before it has read everything; its answer says more than the broken pipe.
    const sent = sendBody(request, upload).catch((error: unknown) => error);
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
