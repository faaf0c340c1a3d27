import { ArchiveError } from './archive-error.ts';
import { decodeName } from './entry-path.ts';
import { type PaxFields, parsePaxRecords } from './pax-records.ts';
import { isZeroBlock, parseTarHeader, type TarHeader, tarBlockBytes } from './tar-header.ts';

/** An entry's header, then its content in pieces, then its end; entry after entry. */
export type TarPart =
  | { part: 'entry'; entry: TarHeader }
  | { part: 'content'; bytes: Buffer }
  | { part: 'end' };

const end: TarPart = { part: 'end' };

/** Extended headers: pax for one entry or for all, and GNU's long names and link targets. */
const extensionTypes = new Set(['x', 'g', 'L', 'K']);
/** Paths are limited far below this; other fields of such headers (attributes) are small too. */
const maxExtensionBytes = 64 * 1024;
/** Zeros after the end mark: tar fills up the last record of a tape, 10 KiB by default. */
const maxPaddingBytes = 1024 * 1024;

/**
 * Parses a tar archive (v7, ustar, pax, GNU with long names) strictly: malformed pax records, a wrong checksum or a
 * missing end are errors here, and are ignored by most libraries. It says nothing about which entries are allowed.
 * Synchronous, because a promise for each of 11,000 small files costs more than writing them.
 * A folder has a size of 0, whatever its header states.
 *
 * @example
 * const reader = new TarReader(limits.maxBytes);
 * for await (const chunk of stream) for (const part of reader.read(chunk)) use(part);
 * reader.finish();
 */
export class TarReader {
  readonly #maxHeaderBytes: number;
  #rest: Buffer = Buffer.alloc(0);
  /** Bytes of the entry or extended header that are still to come, and of zeros after them. */
  #wanted = 0;
  #padding = 0;
  /** The extended header that is being read. */
  #extending: { type: string; pieces: Buffer[] } | undefined;
  /** Fields of extended headers for the next entry. */
  #extension: PaxFields = {};
  #headerBytes = 0;
  #zeroBlocks = 0;

  /** @param maxHeaderBytes largest size of all extended headers together */
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

  /** Check that the archive is complete, once its bytes are. @throws ArchiveError */
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
    if (this.#zeroBlocks > 0) throw new ArchiveError('something follows after the end mark of the archive');
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

function extensionFields(type: string, body: Buffer): PaxFields {
  if (type === 'x') return parsePaxRecords(body);
  if (type === 'L') return { path: decodeName(trimZeros(body)) };
  if (type === 'K') return { linkpath: decodeName(trimZeros(body)) };
  if (Object.keys(parsePaxRecords(body)).length > 0) {
    throw new ArchiveError('a pax header gives all entries of the archive the same path or size');
  }
  return {}; // a comment, as git writes it
}

function withFolderSize(entry: TarHeader): TarHeader {
  return entry.type === '5' ? { ...entry, size: 0 } : entry;
}

function trimZeros(body: Buffer): Buffer {
  const last = body.findLastIndex((byte) => byte !== 0);
  return body.subarray(0, last + 1);
}
