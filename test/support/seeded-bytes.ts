import { createCipheriv } from 'node:crypto';

/** Makes a source of bytes without any pattern, which a seed decides; each call goes on where the last one ended. */
export function seededBytes(seed: number): (count: number) => Buffer {
  const key = Buffer.alloc(16);
  key.writeUInt32BE(seed);
  const stream = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  return (count) => stream.update(Buffer.alloc(count));
}
