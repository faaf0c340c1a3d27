import { ArchiveError, shown } from './archive-error.ts';
import { decodeName } from './entry-path.ts';

/**
 * Parse a tar archive (v7, ustar, pax, GNU with long names) strictly. Malformed pax records, a wrong checksum or a
 * missing end are errors here; most libraries ignore them. The reader does not decide which entries are allowed.
 * It is synchronous, because a promise for each of 11,000 small files costs more than writing them. A folder has
 * size 0, whatever its header states.
 *
 * @example
 * const reader = new TarReader(limits.maxBytes);
 * for await (const chunk of stream) for (const part of reader.read(chunk)) use(part);
 * reader.finish();
 */
export class TarReader {
  readonly #maxHeaderBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  /** Remaining bytes of the current entry or extended header, and of the zeros after them. */
  #wanted = 0;
  #padding = 0;
  /** The extended header being read. */
  #extending: { type: string; pieces: Buffer[] } | undefined;
  /** Extended header fields for the next entry. */
  #extension: PaxFields = {};
  #headerBytes = 0;
  #zeroBlocks = 0;

  /** @param maxHeaderBytes most bytes of all extended headers together */
  constructor(maxHeaderBytes: number) {
    this.#maxHeaderBytes = maxHeaderBytes;
  }

  /** Parse the next bytes of the archive. @throws ArchiveError */
  *read(chunk: Buffer): Generator<TarPart, void, undefined> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at < bytes.length) {
      if (this.#wanted > 0) {
        const piece = bytes.subarray(at, at + this.#wanted);
        this.#wanted -= piece.length;
        at += piece.length;
        if (this.#extending === undefined) yield { part: 'content', bytes: piece };
        else this.#extending.pieces.push(piece);
        if (this.#wanted === 0) yield* this.#close();
      } else if (this.#padding > 0) {
        const skipped = Math.min(this.#padding, bytes.length - at);
        this.#padding -= skipped;
        at += skipped;
      } else {
        if (bytes.length - at < tarBlockBytes) break;
        yield* this.#open(bytes.subarray(at, at + tarBlockBytes));
        at += tarBlockBytes;
      }
    }
    this.#rest = bytes.subarray(at);
  }

  /** Check that the archive is complete. Call this after the last bytes. @throws ArchiveError */
  finish(): void {
    const isPartial = this.#wanted + this.#padding + this.#rest.length > 0 || this.#extending !== undefined;
    if (isPartial) throw new ArchiveError('the archive is cut short');
    if (this.#zeroBlocks === 0) throw new ArchiveError('the archive is cut short: its end mark is missing');
    if (this.#zeroBlocks === 1)
      throw new ArchiveError('the archive is cut short: its end mark is incomplete');
  }

  *#open(block: Buffer): Generator<TarPart, void, undefined> {
    if (isZeroBlock(block)) {
      this.#zeroBlocks += 1;
      if (this.#zeroBlocks * tarBlockBytes > maxPaddingBytes)
        throw new ArchiveError('the archive is followed by endless zeros');
      return;
    }
    if (this.#zeroBlocks > 0) throw new ArchiveError('the archive has data after its end mark');
    const header = parseTarHeader(block);
    const isExtension = extensionTypes.has(header.type);
    const entry = isExtension ? header : withFolderSize({ ...header, ...this.#extension });
    this.#wanted = entry.size;
    this.#padding = -entry.size & (tarBlockBytes - 1);
    if (isExtension) this.#startExtension(header);
    else {
      this.#extension = {};
      yield { part: 'entry', entry };
    }
    if (this.#wanted === 0) yield* this.#close();
  }

  #startExtension({ type, size }: TarHeader): void {
    if (size > maxExtensionBytes) throw new ArchiveError('a header of the archive is too large');
    this.#headerBytes += tarBlockBytes + size;
    if (this.#headerBytes > this.#maxHeaderBytes)
      throw new ArchiveError('the headers of the archive are too large');
    this.#extending = { type, pieces: [] };
  }

  *#close(): Generator<TarPart, void, undefined> {
    if (this.#extending === undefined) yield end;
    else {
      const { type, pieces } = this.#extending;
      this.#extending = undefined;
      this.#extension = { ...this.#extension, ...extensionFields(type, Buffer.concat(pieces)) };
    }
  }
}

/** Fields of an extended header that override the next entry's own. */
interface PaxFields {
  path?: string;
  linkpath?: string;
  size?: number;
}

/** Output of the parser, entry by entry: the header, the content in pieces, and the end. */
export type TarPart =
  | { part: 'entry'; entry: TarHeader }
  | { part: 'content'; bytes: Buffer }
  | { part: 'end' };

/** The used fields of a tar header block (POSIX.1-2001 pax, "ustar interchange format"). */
export interface TarHeader {
  path: string;
  /** Target of a link; empty for other types. */
  linkpath: string;
  /** Type flag. It is '0' also for NUL and '7', which denote ordinary files as well. */
  type: string;
  /** Permission bits as stored, including setuid, setgid and sticky bits. */
  mode: number;
  size: number;
  /** Seconds since 1970. 0 for an invalid field, because most readers ignore it. */
  mtime: number;
}

export const tarBlockBytes = 512;

/** Whether a block is all zeros. Two such blocks end an archive. */
export function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** Most bytes of zeros after the end mark. Tar fills up the last record of a tape, 10 KiB by default. */
const maxPaddingBytes = 1024 * 1024;

/** Parse a header block. @throws ArchiveError if the block is not a header, or a field in it is invalid */
function parseTarHeader(block: Buffer): TarHeader {
  if (!hasTarChecksum(block)) throw new ArchiveError('the archive is damaged: a tar header is not valid');
  const name = decodeName(field(block, 0, 100));
  // Only the POSIX form stores a path prefix here; GNU stores times in the same bytes.
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
    throw new ArchiveError(`entry ${shown(path)}: its header has an invalid number`, { cause });
  }
}

/** Whether the block has a valid tar header checksum. Other data does not match by chance. */
export function hasTarChecksum(block: Buffer): boolean {
  if (block.length < tarBlockBytes || !/^ *[0-7]+[ \0]*$/.test(block.toString('latin1', 148, 156)))
    return false;
  // The checksum field itself counts as eight spaces. A plain loop for speed: it runs for each file.
  let sum = 8 * 0x20;
  for (let at = 0; at < 148; at += 1) sum += block[at] ?? 0;
  for (let at = 156; at < tarBlockBytes; at += 1) sum += block[at] ?? 0;
  return octal(block, 148, 8) === sum;
}

function octal(block: Buffer, start: number, length: number): number {
  const text = field(block, start, length).toString('latin1').trim();
  if (text !== '' && !/^[0-7]+$/.test(text)) throw new RangeError('not octal');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

function field(block: Buffer, start: number, length: number): Buffer {
  const bytes = block.subarray(start, start + length);
  const end = bytes.indexOf(0);
  return end === -1 ? bytes : bytes.subarray(0, end);
}

const end: TarPart = { part: 'end' };

/**
 * Parse a number in octal digits, or in GNU's binary form for larger numbers: a first byte of 0x80, then
 * big-endian.
 */
function number(block: Buffer, start: number, length: number): number {
  const first = block[start] ?? 0;
  if (first < 0x80) return octal(block, start, length);
  const digits = block.toString('hex', start + 1, start + length);
  const value = Number(BigInt(`0x${digits}`));
  if (first !== 0x80 || !Number.isSafeInteger(value)) throw new RangeError('negative or too large');
  return value;
}

function secondsOf(block: Buffer): number {
  const text = field(block, 136, 12).toString('latin1').trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : 0;
}

/** Types of extended headers: pax for one entry or for all entries, and GNU's long names and link targets. */
const extensionTypes = new Set(['x', 'g', 'L', 'K']);

function withFolderSize(entry: TarHeader): TarHeader {
  return entry.type === '5' ? { ...entry, size: 0 } : entry;
}

/**
 * Most bytes of an extended header. The limit on paths is far lower, and other fields of such headers (attributes)
 * are small too.
 */
const maxExtensionBytes = 64 * 1024;

function extensionFields(type: string, body: Buffer): PaxFields {
  if (type === 'x') return parsePaxRecords(body);
  if (type === 'L') return { path: decodeName(trimZeros(body)) };
  if (type === 'K') return { linkpath: decodeName(trimZeros(body)) };
  if (Object.keys(parsePaxRecords(body)).length > 0) {
    throw new ArchiveError('a pax header gives all entries of the archive the same path or size');
  }
  return {}; // a comment, as git writes it
}

/**
 * Parse the records `<length> <key>=<value>\n` of a pax extended header (POSIX.1-2001). Ignore times, owners and
 * attributes. Apply or refuse every record that would change how the archive is read.
 * @throws ArchiveError for malformed records
 */
export function parsePaxRecords(body: Buffer): PaxFields {
  const fields: PaxFields = {};
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(0x20, at);
    const digits = body.toString('latin1', at, blank === -1 ? at : Math.min(blank, at + 10));
    const end = at + Number(digits);
    const equals = body.indexOf(0x3d, blank);
    if (
      !/^[1-9]\d*$/.test(digits) ||
      end > body.length ||
      body[end - 1] !== 0x0a ||
      equals >= end ||
      equals === -1
    ) {
      throw new ArchiveError('the archive is damaged: a pax header is not valid');
    }
    apply(fields, body.toString('utf8', blank + 1, equals), body.subarray(equals + 1, end - 1));
    at = end;
  }
  return fields;
}

function apply(fields: PaxFields, key: string, value: Buffer): void {
  if (key.startsWith('GNU.sparse.'))
    throw new ArchiveError('the archive contains a sparse file; pack it as an ordinary file');
  if (key === 'path') fields.path = decodeName(value);
  if (key === 'linkpath') fields.linkpath = decodeName(value);
  if (key === 'size') {
    const size = /^\d+$/.test(value.toString('latin1')) ? Number(value.toString('latin1')) : Number.NaN;
    if (!Number.isSafeInteger(size))
      throw new ArchiveError('the archive is damaged: a pax size is not a number');
    fields.size = size;
  }
}

function trimZeros(body: Buffer): Buffer {
  const last = body.findLastIndex((byte) => byte !== 0);
  return body.subarray(0, last + 1);
}
