import { Buffer } from 'node:buffer';

/** Where the parts of an archive begin. */
export interface ZipLayout {
  segments: ZipSegment[];
  size: number;
}

/** A run of bytes of an archive: given ones, or the content of an entry. */
export type ZipSegment = { at: number; length: number } & (
  | { of: 'bytes'; make(): Buffer }
  | { of: 'entry'; index: number }
);

/**
 * A zip archive whose files are stored as they are, computed from their names, sizes and checksums alone (APPNOTE.TXT
 * of PKWARE, 4.3 and 4.5.3). So any part of it can be written by itself and again, and one list of files has one archive:
 * who knows the list knows each byte between the files, and need not believe what an archive says of itself.
 */

/** A file of an archive. */
export interface ZipEntry {
  /** With slashes; at most 65,535 bytes of UTF-8. */
  path: string;
  /** Bytes. */
  size: number;
  crc32: number;
}

/** Bytes before the content of the first file of an archive. */
export const firstHeaderBytes = (path: string): number => 30 + Buffer.byteLength(path);

/** Size of the first file by its header; undefined where it is not the header of a small file of this path. */
export function sizeInHeader(header: Buffer, path: string): number | undefined {
  if (header.length < firstHeaderBytes(path)) return undefined;
  const entry = { path, size: header.readUInt32LE(18), crc32: header.readUInt32LE(14) };
  return header.subarray(0, firstHeaderBytes(path)).equals(localHeader(entry)) ? entry.size : undefined;
}

function localHeader({ path, size, crc32 }: ZipEntry): Buffer {
  const name = Buffer.from(path, 'utf8');
  const isLarge = size >= inFour;
  const extra = isLarge ? numbers([zip64Tag, 2], [16, 2], [size, 8], [size, 8]) : Buffer.alloc(0);
  const shown = isLarge ? inFour : size;
  return Buffer.concat([
    numbers(
      [0x04034b50, 4],
      [isLarge ? largeVersion : plainVersion, 2],
      [flags, 2],
      [0, 2],
      [0, 2],
      [date, 2],
      [crc32, 4],
      [shown, 4],
      [shown, 4],
      [name.length, 2],
      [extra.length, 2],
    ),
    name,
    extra,
  ]);
}

const inFour = 0xffffffff;

/** Bytes of a field of numbers, little-endian: pairs of value and bytes. */
function numbers(...fields: readonly (readonly [value: number, bytes: 2 | 4 | 8])[]): Buffer {
  const made = Buffer.alloc(fields.reduce((sum, [, bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [value, bytes] of fields) {
    if (bytes === 8) made.writeBigUInt64LE(BigInt(value), at);
    else made.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return made;
}

const zip64Tag = 1;

const largeVersion = 45;

const plainVersion = 20;

/** Names are UTF-8. */
const flags = 0x0800;

/** 1 January 1980, midnight: the least that the format has. */
const date = 0x0021;

/** The layout of the archive of these files, in their order. */
export function layoutOf(entries: readonly ZipEntry[]): ZipLayout {
  const segments: ZipSegment[] = [];
  let at = 0;
  const add = (length: number, rest: { of: 'entry'; index: number } | { of: 'bytes'; make(): Buffer }) => {
    segments.push({ at, length, ...rest });
    at += length;
  };
  const starts = new Float64Array(entries.length);
  for (const [index, entry] of entries.entries()) {
    starts[index] = at;
    add(localHeader(entry).length, { of: 'bytes', make: () => localHeader(entry) });
    add(entry.size, { of: 'entry', index });
  }
  const directoryAt = at;
  for (const [index, entry] of entries.entries()) {
    const start = starts[index] ?? 0;
    add(directoryEntry(entry, start).length, { of: 'bytes', make: () => directoryEntry(entry, start) });
  }
  const end = directoryEnd(entries.length, at - directoryAt, directoryAt);
  add(end.length, { of: 'bytes', make: () => end });
  return { segments, size: at };
}

function directoryEntry({ path, size, crc32 }: ZipEntry, at: number): Buffer {
  const name = Buffer.from(path, 'utf8');
  const large: [number, 8][] = [
    ...(size >= inFour
      ? ([
          [size, 8],
          [size, 8],
        ] as [number, 8][])
      : []),
    ...(at >= inFour ? ([[at, 8]] as [number, 8][]) : []),
  ];
  const extra =
    large.length === 0 ? Buffer.alloc(0) : numbers([zip64Tag, 2], [8 * large.length, 2], ...large);
  const version = large.length === 0 ? plainVersion : largeVersion;
  return Buffer.concat([
    numbers(
      [0x02014b50, 4],
      [madeOnUnix | version, 2],
      [version, 2],
      [flags, 2],
      [0, 2],
      [0, 2],
      [date, 2],
      [crc32, 4],
      [capped(size), 4],
      [capped(size), 4],
      [name.length, 2],
      [extra.length, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [attributes, 4],
      [capped(at), 4],
    ),
    name,
    extra,
  ]);
}

const madeOnUnix = 3 << 8;

const capped = (value: number): number => Math.min(value, inFour);

/** An ordinary file of Unix that all may read. */
const attributes = (0o100644 << 16) >>> 0;

/** What stands behind the directory. */
function directoryEnd(entries: number, bytes: number, at: number): Buffer {
  const isLarge = entries >= inTwo || bytes >= inFour || at >= inFour;
  const large = numbers(
    [0x06064b50, 4],
    [44, 8],
    [madeOnUnix | largeVersion, 2],
    [largeVersion, 2],
    [0, 4],
    [0, 4],
    [entries, 8],
    [entries, 8],
    [bytes, 8],
    [at, 8],
    [0x07064b50, 4],
    [0, 4],
    [at + bytes, 8],
    [1, 4],
  );
  const count = Math.min(entries, inTwo);
  const end = numbers(
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [count, 2],
    [count, 2],
    [capped(bytes), 4],
    [capped(at), 4],
    [0, 2],
  );
  return isLarge ? Buffer.concat([large, end]) : end;
}

const inTwo = 0xffff;

/** The segments that have bytes from `first` up to `end`, by a binary search. */
export function segmentsBetween({ segments }: ZipLayout, first: number, end: number): ZipSegment[] {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const segment = segments[middle];
    if (segment !== undefined && segment.at + segment.length <= first) low = middle + 1;
    else high = middle;
  }
  const found: ZipSegment[] = [];
  for (let index = low; index < segments.length; index += 1) {
    const segment = segments[index];
    if (segment === undefined || segment.at >= end) break;
    found.push(segment);
  }
  return found;
}
