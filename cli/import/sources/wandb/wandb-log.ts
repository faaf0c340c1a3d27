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
 * type and data), after a header of seven bytes. Pass over damaged parts, and count them. A file without such a header has
 * no records.
 */
export async function* wandbRecords(
  path: string,
  damage: LogDamage = { blocks: 0, isTorn: false },
): AsyncGenerator<Uint8Array> {
  let record: Buffer[] | undefined;
  let size = 0;
  for await (const { type, data } of partsOf(path, damage)) {
    if (type === damaged) {
      record = undefined;
      continue;
    }
    if (type === parts.full || type === parts.first) {
      if (record !== undefined) damage.blocks += 1;
      record = [];
      size = 0;
    }
    if (record === undefined) continue;
    // The block of a part is overwritten by the next read.
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
  if (record !== undefined) damage.isTorn = true;
}

interface LogPart {
  /** One of {@link parts}, or {@link damaged}. */
  type: number;
  data: Buffer;
}

/** Type of a part whose checksum is wrong. */
const damaged = -1;

/** Yield the parts of a file. Their data are valid until the next one is asked for. */
async function* partsOf(path: string, damage: LogDamage): AsyncGenerator<LogPart> {
  await using file = await open(path);
  const { size } = await file.stat();
  const buffer = Buffer.alloc(Math.min(blocksAtOnce, Math.floor(size / blockBytes) + 1) * blockBytes);
  for (let position = 0, isEnd = false; !isEnd; position += buffer.length) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    isEnd = bytesRead < buffer.length;
    if (position === 0 && !buffer.subarray(0, magic.length).equals(magic)) return;
    for (let start = 0; start < bytesRead; start += blockBytes) {
      const block = buffer.subarray(start, Math.min(start + blockBytes, bytesRead));
      yield* partsOfBlock(block, position + start === 0 ? headerBytes : 0, damage);
    }
  }
}

function* partsOfBlock(block: Buffer, from: number, damage: LogDamage): Generator<LogPart> {
  for (let at = from; block.length - at >= headerBytes; ) {
    const length = block.readUInt16LE(at + 4);
    const type = block[at + 6] ?? 0;
    if (type === 0 && length === 0) return;
    const end = at + headerBytes + length;
    if (end > block.length) {
      // The last block of a file is shorter: its program may write it at this moment.
      if (block.length < blockBytes) damage.isTorn = true;
      else damage.blocks += 1;
      return;
    }
    const isWhole = crc32(block.subarray(at + headerBytes - 1, end)) === block.readUInt32LE(at);
    const isKnown = isWhole && type <= parts.last;
    if (!isKnown) damage.blocks += 1;
    yield { type: isKnown ? type : damaged, data: block.subarray(at + headerBytes, end) };
    at = end;
  }
}
