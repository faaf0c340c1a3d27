import { type IncomingMessage, request } from 'node:http';
import type { PresignedUpload } from '../../../shared/aws/objects.ts';

/** The answer to a request, with how many bytes it had. @throws Error for any status but 200 */
function send(url: string, method: string, headers: Record<string, string>, body?: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const receive = (response: IncomingMessage) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(bytes);
        else reject(new Error(`${method} was answered ${response.statusCode}`));
      });
    };
    request(url, { method, headers }, receive).on('error', reject).end(body);
  });
}

export async function putBytes({ url, method, headers }: PresignedUpload, bytes: Buffer): Promise<void> {
  await send(url, method, headers, bytes);
}

/** Downloads and drops an object of this size. */
export async function getBytes(url: string, size: number): Promise<void> {
  const received = await send(url, 'GET', {});
  if (received !== size) throw new Error(`${received} bytes came of ${size}`);
}
