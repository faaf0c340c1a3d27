import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Size, CRC-32 and SHA-256 of a byte stream. */
export class Digest {
  size = 0;
  crc32 = 0;
  readonly #hash = createHash('sha256');

  add(bytes: Uint8Array): void {
    this.size += bytes.length;
    this.crc32 = crc32(bytes, this.crc32);
    this.#hash.update(bytes);
  }

  /** Return the results. Call this once. */
  end(): { size: number; crc32: number; sha256: string } {
    return { size: this.size, crc32: this.crc32, sha256: this.#hash.digest('hex') };
  }
}
