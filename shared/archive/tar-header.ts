import { ArchiveError, shown } from './archive-error.ts';
import { decodeName } from './entry-path.ts';

/** The fields of a tar header block that readers use (POSIX.1-2001 pax, "ustar interchange format"). */
export interface TarHeader {
  path: string;
  /** Target of a link; empty for other types. */
  linkpath: string;
  /** The type flag; '0' also for the NUL and '7' that stand for ordinary files. */
  type: string;
  /** Permission bits as stored, setuid and the like included. */
  mode: number;
  size: number;
  /** Seconds since 1970; 0 where the field is not valid, because most readers ignore it. */
  mtime: number;
}

export const tarBlockBytes = 512;

/** True for a block of zeros; two of them end an archive. */
export function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** True when the block's checksum is that of a tar header, which nothing else has by chance. */
export function hasTarChecksum(block: Buffer): boolean {
  if (block.length < tarBlockBytes || !/^ *[0-7]+[ \0]*$/.test(block.toString('latin1', 148, 156)))
    return false;
  // The checksum field itself counts as eight spaces. A loop, because there is one header for each file.
  let sum = 8 * 0x20;
  for (let at = 0; at < 148; at += 1) sum += block[at] ?? 0;
  for (let at = 156; at < tarBlockBytes; at += 1) sum += block[at] ?? 0;
  return octal(block, 148, 8) === sum;
}

/** Parse a header block. @throws ArchiveError when it is none, or a field in it is not valid */
export function parseTarHeader(block: Buffer): TarHeader {
  if (!hasTarChecksum(block)) throw new ArchiveError('the archive is damaged: a tar header is not valid');
  const name = decodeName(field(block, 0, 100));
  // Only the POSIX form has the first part of a long path here; GNU keeps times in the same bytes.
  const isPosix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? decodeName(field(block, 345, 155)) : '';
  const path = prefix === '' ? name : `${prefix}/${name}`;
  const flag = block.toString('latin1', 156, 157);
  try {
    return {
      path,
      linkpath: flag === '1' || flag === '2' ? decodeName(field(block, 157, 100)) : '',
      type: flag === '\0' || flag === '7' ? '0' : flag,
      mode: octal(block, 100, 8),
      size: number(block, 124, 12),
      mtime: secondsOf(block),
    };
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw new ArchiveError(`entry ${shown(path)}: its header holds a number that makes no sense`, { cause });
  }
}

function secondsOf(block: Buffer): number {
  const text = field(block, 136, 12).toString('latin1').trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : 0;
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

/** A number in octal digits, or in GNU's binary form for larger ones: a first byte of 0x80, then big-endian. */
function number(block: Buffer, start: number, length: number): number {
  const first = block[start] ?? 0;
  if (first < 0x80) return octal(block, start, length);
  const digits = block.toString('hex', start + 1, start + length);
  const value = Number(BigInt(`0x${digits}`));
  if (first !== 0x80 || !Number.isSafeInteger(value)) throw new RangeError('negative or too large');
  return value;
}
