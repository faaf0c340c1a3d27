import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, type ZipFile } from 'yauzl';
import { ArchiveError, type ArchiveLimits, damaged, shown } from './archive-error.ts';
import { DiskRoomError } from './disk-room.ts';
import { decodeName } from './entry-path.ts';
import type { UnpackedTree } from './unpacked-tree.ts';
import { ZipFileReader } from './zip-file-reader.ts';

const methodStored = 0;
const methodDeflated = 8;

/** Unpacks a zip archive, as its central directory lists it. */
export async function unpackZip(file: string, tree: UnpackedTree, limits: ArchiveLimits): Promise<void> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const reader = new ZipFileReader(handle, size);
    const zip = await fromRandomAccessReaderPromise(reader, size, { autoClose: false, decodeStrings: false });
    if (zip.entryCount > limits.maxEntries) {
      throw new ArchiveError(`the archive holds ${zip.entryCount} entries, more than ${limits.maxEntries}`);
    }
    for await (const entry of zip.eachEntry()) await unpackEntry(zip, entry, tree);
    await checkDirectoryEnd(handle, Number(zip.readEntryCursor)); // a number; the published type is mistaken
  } catch (cause) {
    throw cause instanceof DiskRoomError ? cause : damaged(cause);
  } finally {
    await handle.close();
  }
}

/** More files than the directory's 16-bit count can say would otherwise be left out without a word. */
async function checkDirectoryEnd(handle: FileHandle, position: number): Promise<void> {
  const { buffer } = await handle.read({ buffer: Buffer.alloc(4), position });
  if (buffer.toString('latin1') === 'PK\x01\x02') {
    throw new ArchiveError('the archive lists more entries than it says it has');
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, tree: UnpackedTree): Promise<void> {
  const path = entryName(entry);
  const refuse = (fault: string): never => {
    throw new ArchiveError(`entry ${shown(path)}: ${fault}`);
  };
  if (entry.isEncrypted()) refuse('it is encrypted');
  // The upper half holds the mode where the archive was made on Unix, and zeros elsewhere.
  const mode = entry.externalFileAttributes >>> 16;
  const kind = mode & 0o170000;
  const isFolder = path.endsWith('/');
  if (kind === 0o120000) refuse('it is a symbolic link; links are not allowed');
  if (kind !== 0 && kind !== (isFolder ? 0o040000 : 0o100000)) refuse('it is neither a file nor a folder');
  if (isFolder) {
    if (entry.uncompressedSize !== 0) refuse('it is a folder with content');
    return await tree.addFolder(path);
  }
  if (entry.compressionMethod !== methodStored && entry.compressionMethod !== methodDeflated) {
    refuse(`its compression method (${entry.compressionMethod}) is not supported; use deflate`);
  }
  const stated = { size: entry.uncompressedSize, executable: (mode & 0o100) !== 0 };
  await tree.addFile(path, stated, readContent(zip, entry, path));
}

/** The content of a file, verified against the checksum that the library leaves to its caller. */
async function* readContent(
  zip: ZipFile,
  entry: Entry,
  path: string,
): AsyncGenerator<Buffer, void, undefined> {
  let checksum = 0;
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    if (!Buffer.isBuffer(chunk)) continue;
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (checksum !== entry.crc32) throw new ArchiveError(`entry ${shown(path)}: its checksum is wrong`);
}

/** Names are UTF-8 with or without the flag for it (macOS leaves it out). */
function entryName(entry: Entry): string {
  return decodeName(entry.fileNameRaw);
}
