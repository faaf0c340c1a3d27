import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { tar, tarEntry } from '../archive/archive-bytes.ts';

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** A source archive of one file. */
export const archive = (content: string) => gzipSync(tar(tarEntry('train.py', { content })));

export interface Ticket {
  url: string;
  method: string;
  headers: Record<string, string>;
}

/** Sends bytes as any client would, with the headers of the ticket unless others are given; answers the status. */
export function send(
  upload: Ticket,
  bytes: Uint8Array,
  headers: Record<string, string> = upload.headers,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(upload.url, { method: upload.method, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sending.on('error', reject);
    sending.end(bytes);
  });
}
