import { ArchiveError, type ArchiveLimits, shown } from './archive-error.ts';
import { ByteReader } from './byte-reader.ts';
import { decodeName } from './entry-path.ts';
import { type PaxFields, parsePaxRecords } from './pax-records.ts';
import { isZeroBlock, parseTarHeader, type TarHeader, tarBlockBytes } from './tar-header.ts';
import type { UnpackedTree } from './unpacked-tree.ts';

const cutShort = (): ArchiveError => new ArchiveError('the archive is cut short');

const refusedTypes: Readonly<Record<string, string>> = {
  '1': 'it is a hard link; links are not allowed',
  '2': 'it is a symbolic link; links are not allowed',
  '3': 'it is a device',
  '4': 'it is a device',
  '6': 'it is a named pipe',
  S: 'it is a sparse file; pack it without',
};

/** Paths are limited far below this; what else stands in such headers (attributes) is small too. */
const maxExtensionBytes = 64 * 1024;
/** Zeros after the end mark: tar fills up the last record of a tape, 10 KiB unless told otherwise. */
const maxPaddingBytes = 1024 * 1024;

/**
 * Unpacks a tar archive (v7, ustar, pax, GNU with long names) in one pass.
 * Read here rather than by a library because what a library passes over in silence (malformed pax
 * records, unknown kinds of entries, a missing end) would be missing or different in the result.
 */
export async function unpackTar(
  source: AsyncIterable<Buffer>,
  tree: UnpackedTree,
  limits: ArchiveLimits,
): Promise<void> {
  const reader = new ByteReader(source, cutShort);
  try {
    await unpackEntries(reader, tree, limits);
    await checkEnd(reader);
  } finally {
    await reader.close();
  }
}

async function unpackEntries(reader: ByteReader, tree: UnpackedTree, limits: ArchiveLimits): Promise<void> {
  let extension: PaxFields = {};
  let extensionBytes = 0;
  while (true) {
    const block = await reader.read(tarBlockBytes);
    if (block === undefined) throw new ArchiveError('the archive is cut short: its end mark is missing');
    if (isZeroBlock(block)) return;
    const header = parseTarHeader(block);
    const found = await readExtension(header, reader);
    if (found === null) {
      await unpackEntry({ ...header, ...extension }, reader, tree);
      extension = {};
    } else {
      extensionBytes += tarBlockBytes + header.size;
      if (extensionBytes > limits.maxBytes)
        throw new ArchiveError('the headers of the archive are too large');
      extension = { ...extension, ...found };
    }
  }
}

/** What the block and its body say about the next entry; null when the block is itself an entry. */
async function readExtension(header: TarHeader, reader: ByteReader): Promise<PaxFields | null> {
  if (!['x', 'g', 'L', 'K'].includes(header.type)) return null;
  if (header.size > maxExtensionBytes) throw new ArchiveError('a header of the archive is too large');
  const body = await reader.read(header.size);
  if (body === undefined) throw cutShort();
  await skipPadding(header.size, reader);
  if (header.type === 'x') return parsePaxRecords(body);
  if (header.type === 'L') return { path: decodeName(trimZeros(body)) };
  if (header.type === 'g' && Object.keys(parsePaxRecords(body)).length > 0) {
    throw new ArchiveError('a pax header gives all entries of the archive the same path or size');
  }
  return {}; // a comment, as git writes it, or the target of a link, which is refused when it comes
}

async function unpackEntry(entry: TarHeader, reader: ByteReader, tree: UnpackedTree): Promise<void> {
  const { path, size, mode, type } = entry;
  if (type === '5' || (type === '0' && path.endsWith('/') && size === 0)) {
    await tree.addFolder(path); // whatever size it states: a folder has no content
    return;
  }
  if (type !== '0') {
    const fault = refusedTypes[type] ?? `it is of a kind that is not supported (${shown(type)})`;
    throw new ArchiveError(`entry ${shown(path)}: ${fault}`);
  }
  await tree.addFile(path, { size, executable: (mode & 0o100) !== 0 }, reader.stream(size));
  await skipPadding(size, reader);
}

async function skipPadding(size: number, reader: ByteReader): Promise<void> {
  const padding = -size & (tarBlockBytes - 1);
  if (padding > 0 && (await reader.read(padding)) === undefined) throw cutShort();
}

/** Reads to the end of the stream, so that a checksum behind it (gzip) is verified, too. */
async function checkEnd(reader: ByteReader): Promise<void> {
  for (let read = 0; ; read += tarBlockBytes) {
    const block = await reader.read(tarBlockBytes);
    if (block === undefined && read > 0) return;
    if (block === undefined) throw new ArchiveError('the archive is cut short: its end mark is incomplete');
    if (!isZeroBlock(block)) throw new ArchiveError('something follows after the end mark of the archive');
    if (read > maxPaddingBytes) throw new ArchiveError('the archive is followed by endless zeros');
  }
}

function trimZeros(body: Buffer): Buffer {
  const end = body.findLastIndex((byte) => byte !== 0);
  return body.subarray(0, end + 1);
}
