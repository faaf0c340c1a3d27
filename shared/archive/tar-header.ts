import { ArchiveError, shown } from './archive-error.ts';
import { decodeName } from './entry-path.ts';

/** The fields of a tar header block that matter here (POSIX.1-2001 pax, "ustar interchange format"). */
export interface TarHeader {
  path: string;
  /** The type flag; '0' also for the NUL and '7' that stand for ordinary files. */
  type: string;
  mode: number;
  size: number;
}

export const tarBlockBytes = 512;

/** True for a block of zeros; two of them end an archive. */
export function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** True when the block's checksum is that of a tar header, which nothing else has by chance. */
export function hasTarChecksum(block: Buffer): boolean {
  if (block.length < tarBlockBytes) return false;
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  return /^ *[0-7]+[ \0]*$/.test(block.toString('latin1', 148, 156)) && octal(block, 148, 8) === sum;
}

/** Reads a header block. @throws ArchiveError when it is none, or a field in it makes no sense */
export function parseTarHeader(block: Buffer): TarHeader {
  if (!hasTarChecksum(block)) throw new ArchiveError('the archive is damaged: a tar header is not valid');
  const name = decodeName(field(block, 0, 100));
  // Only the POSIX form has the first part of a long path here; GNU keeps times in the same place.
  const isPosix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? decodeName(field(block, 345, 155)) : '';
  const path = prefix === '' ? name : `${prefix}/${name}`;
  const flag = block.toString('latin1', 156, 157);
  try {
    return {
      path,
      type: flag === '\0' || flag === '7' ? '0' : flag,
      mode: octal(block, 100, 8),
      size: number(block, 124, 12),
    };
  } catch (cause) {
    throw new ArchiveError(`entry ${shown(path)}: its header holds a number that makes no sense`, { cause });
  }
}

function field(block: Buffer, start: number, length: number): Buffer {
  const bytes = block.subarray(start, start + length);
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

function octal(block: Buffer, start: number, length: number): number {
  const text = field(block, start, length).toString('latin1').trim();
  if (text !== '' && !/^[0-7]+$/.test(text)) throw new RangeError('not octal');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

/** Octal digits, or GNU's binary form for what octal digits cannot hold: a first byte of 0x80, big-endian. */
function number(block: Buffer, start: number, length: number): number {
  const first = block[start] ?? 0;
  if (first < 0x80) return octal(block, start, length);
  const digits = block.toString('hex', start + 1, start + length);
  const value = Number(BigInt(`0x${digits}`));
  if (first !== 0x80 || !Number.isSafeInteger(value)) throw new RangeError('negative or too large');
  return value;
}
