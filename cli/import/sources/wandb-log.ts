import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** What of a log could not be read. */
export interface LogDamage {
  /** Blocks whose checksum is wrong, and records that lack a part. */
  blocks: number;
  /** Whether the file ends within a record, as that of a killed program. */
  isTorn: boolean;
}

const blockBytes = 32_768;
const headerBytes = 7;
const magic = Buffer.from(':W&B\xe1\xbe', 'latin1');
/** Blocks in one read. */
const blocksAtOnce = 32;
/** No record of W&B is larger; a chain of parts beyond it is damage. */
const maxRecord = 256 * 1024 * 1024;

const parts = { full: 1, first: 2, middle: 3, last: 4 } as const;

/**
 * Yield the records of a `.wandb` file: the log format of LevelDB (32-KiB blocks of parts, each with a CRC-32 of its
 * type and data), after a header of seven bytes. Pass over damaged parts, and count them.
 * @returns undefined if the file has no such header
 */
export async function* wandbRecords(path: string, damage: LogDamage): AsyncGenerator<Uint8Array> {
  await using file = await open(path);
  const buffer = Buffer.alloc(blocksAtOnce * blockBytes);
  let record: Buffer[] | undefined;
  let size = 0;
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) break;
    // A file that is written at this moment may give a part of a block: read that block again, alone and last.
    const isEnd = bytesRead < buffer.length;
    for (let start = 0; start < bytesRead; start += blockBytes) {
      const block = buffer.subarray(start, Math.min(start + blockBytes, bytesRead));
      let at = position + start === 0 ? headerBytes : 0;
      if (position + start === 0 && !block.subarray(0, magic.length).equals(magic)) return;
      while (block.length - at >= headerBytes) {
        const length = block.readUInt16LE(at + 4);
        const type = block[at + 6] ?? 0;
        if (type === 0 && length === 0) break;
        const end = at + headerBytes + length;
        if (end > block.length) {
          if (block.length < blockBytes) damage.isTorn = true;
          else damage.blocks += 1;
          break;
        }
        const typeAndData = block.subarray(at + headerBytes - 1, end);
        const isWhole = crc32(typeAndData) === block.readUInt32LE(at);
        const data = block.subarray(at + headerBytes, end);
        at = end;
        if (!isWhole || type > parts.last) {
          damage.blocks += 1;
          record = undefined;
          continue;
        }
        if (type === parts.full || type === parts.first) {
          if (record !== undefined) damage.blocks += 1;
          record = [];
          size = 0;
        }
        if (record === undefined) continue;
        // The buffer is used again.
        record.push(type === parts.full ? data : Buffer.from(data));
        size += data.length;
        if (size > maxRecord) {
          damage.blocks += 1;
          record = undefined;
        } else if (type === parts.full || type === parts.last) {
          yield record.length === 1 && record[0] !== undefined ? record[0] : Buffer.concat(record);
          record = undefined;
        }
      }
    }
    position += bytesRead;
    if (isEnd) break;
  }
  if (record !== undefined) damage.isTorn = true;
}
