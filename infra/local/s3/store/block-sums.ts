import { closeSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { hasCode } from '../../../../shared/host/has-code.ts';

/** Compute the CRC-32 of each block of a file during its write, four bytes each, big-endian. */
export class BlockSums {
  readonly #sums: number[] = [];
  #current = 0;
  /** Bytes in the current, incomplete block. */
  #filled = 0;

  update(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + blockBytes - this.#filled);
      this.#current = crc32(part, this.#current);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === blockBytes) this.#close();
    }
  }

  /** Return the checksums of all blocks. The last block may be short. */
  digest(): Buffer {
    if (this.#filled > 0) this.#close();
    const bytes = Buffer.alloc(this.#sums.length * sumBytes);
    for (const [index, sum] of this.#sums.entries()) bytes.writeUInt32BE(sum, index * sumBytes);
    return bytes;
  }

  #close(): void {
    this.#sums.push(this.#current);
    this.#current = 0;
    this.#filled = 0;
  }
}

/**
 * Size of the blocks for reading and verification. Larger blocks cost more reading, smaller ones more space in the
 * index.
 */
export const blockBytes = 256 * 1024;

const sumBytes = 4;

/** One complete block of a file. */
export interface Block {
  index: number;
  bytes: Buffer;
}

/**
 * Read the blocks that contain the bytes `first` to `last` of a file with `size` bytes.
 * @throws ShortFileError if the file is shorter or missing
 */
export async function* readBlocks(
  path: string,
  size: number,
  first: number,
  last: number,
): AsyncGenerator<Block, void, undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw hasCode(error, 'ENOENT') ? new ShortFileError(Math.floor(first / blockBytes)) : error;
  });
  try {
    for (let index = Math.floor(first / blockBytes); index * blockBytes <= last; index += 1) {
      const bytes = Buffer.allocUnsafeSlow(lengthOf(index, size));
      for (let filled = 0; filled < bytes.length; ) {
        const { bytesRead } = await file.read(
          bytes,
          filled,
          bytes.length - filled,
          index * blockBytes + filled,
        );
        if (bytesRead === 0) throw new ShortFileError(index);
        filled += bytesRead;
      }
      yield { index, bytes };
    }
  } finally {
    await file.close();
  }
}

/** The file ends before the end of this block. */
export class ShortFileError extends Error {
  readonly block: number;

  constructor(block: number) {
    super(`The file ends within block ${block}.`);
    this.name = 'ShortFileError';
    this.block = block;
  }
}

const lengthOf = (index: number, size: number): number => Math.min(blockBytes, size - index * blockBytes);

/** Whether a block matches its checksum. */
export function isIntact({ index, bytes }: Block, sums: Uint8Array): boolean {
  const view = Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength);
  return (index + 1) * sumBytes <= view.length && view.readUInt32BE(index * sumBytes) === crc32(bytes);
}

/** Whether a single block of a file matches its checksum. Return false also if it cannot be read. */
export function isBlockIntact(path: string, size: number, index: number, sums: Uint8Array): boolean {
  const bytes = Buffer.allocUnsafeSlow(lengthOf(index, size));
  try {
    const file = openSync(path, 'r');
    try {
      let filled = 0;
      for (let read = -1; read !== 0 && filled < bytes.length; filled += read) {
        read = readSync(file, bytes, filled, bytes.length - filled, index * blockBytes + filled);
      }
      return filled === bytes.length && isIntact({ index, bytes }, sums);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
