import { createReadStream } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { SendFile } from '../send-upload.ts';

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

/** Sends a file from disk, of which only a part is in memory at a time. `fetch` cannot: it would not name the size. */
export const sendFile =
  ({ path, start = 0, size, onProgress, signal }: FileUpload): SendFile =>
  async ({ url, method, headers }) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(url, {
      method,
      headers: { ...headers, 'Content-Length': size },
      ...(signal !== undefined && { signal }),
    });
    const answered = new Promise<{ status: number; text: string }>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
      });
    });
    let sent = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _, done) {
        sent += chunk.length;
        onProgress?.(sent);
        done(null, chunk);
      },
    });
    const source = createReadStream(path, {
      start,
      end: start + Math.max(0, size - 1),
      highWaterMark: 1 << 18,
    });
    // Storage that refuses answers before it has read everything; its answer says more than the broken pipe.
    const written = pipeline(size === 0 ? [] : source, counted, request).catch((error: unknown) => error);
    const first = await Promise.race([
      answered,
      written.then((error) => (error === undefined ? answered : Promise.reject(error))),
    ]).catch(async (error: unknown) => {
      request.destroy();
      throw error;
    });
    await written;
    return first;
  };
