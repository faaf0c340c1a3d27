import { createReadStream } from 'node:fs';
import { chmod, chown, type FileHandle, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, type ZipFile } from 'yauzl';
import { ArchiveError, type ArchiveLimits, damaged, shown } from './archive-error.ts';
import { type DiskRoom, DiskRoomError } from './disk-room.ts';
import { decodeName } from './entry-path.ts';
import {
  hasTarChecksum,
  isZeroBlock,
  type TarHeader,
  type TarPart,
  TarReader,
  tarBlockBytes,
} from './tar-reader.ts';
import { type Owner, UnpackedTree } from './unpacked-tree.ts';
import { ZipFileReader } from './zip-file-reader.ts';

/**
 * Unpack an archive from a user to the folder `into`. The archive may be tar, tar.gz or zip, recognized by its
 * content and not by its name. `into` must be missing or empty, and its parent must exist. The result is atomic:
 * all files or none. Only files and folders are allowed. Files get mode 0644, or 0755 if the owner may execute
 * them; folders get 0755. A single top folder stays. Memory does not grow with the archive.
 * @returns number of files and folders, and number of bytes
 * @throws ArchiveError for an invalid archive; DiskRoomError before the disk is full; file system errors unchanged
 */
export async function extractArchive(options: {
  file: string;
  into: string;
  limits: ArchiveLimits;
  owner?: Owner;
  room?: DiskRoom;
}): Promise<{ entries: number; bytes: number }> {
  const { file, into, limits, owner, room } = options;
  const format = await archiveFormat(file);
  // A sibling folder, so the last step is one rename. mkdtemp makes it accessible to this user alone.
  const folder = await mkdtemp(`${into}.unpacking-`);
  try {
    const tree = new UnpackedTree(folder, limits, owner, room);
    if (format === 'zip') await unpackZip(file, tree, limits);
    else await unpackTar(readBytes(file, format), tree, limits);
    if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
    await chmod(folder, 0o755);
    await rename(folder, into);
    return { entries: tree.entries, bytes: tree.bytes };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function archiveFormat(file: string): Promise<Format> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(tarBlockBytes), position: 0 });
    const start = buffer.subarray(0, bytesRead);
    if (start.subarray(0, 2).equals(Buffer.of(0x1f, 0x8b))) return 'tar.gz';
    // A local file header, or the end record that an empty archive consists of.
    if (['PK\x03\x04', 'PK\x05\x06'].includes(start.toString('latin1', 0, 4))) return 'zip';
    if (hasTarChecksum(start) || (bytesRead === tarBlockBytes && isZeroBlock(start))) return 'tar';
  } finally {
    await handle.close();
  }
  throw new ArchiveError('the file is neither a tar.gz, a tar nor a zip archive');
}

type Format = 'tar' | 'tar.gz' | 'zip';

/** Unpack a zip archive by its central directory. */
async function unpackZip(file: string, tree: UnpackedTree, limits: ArchiveLimits): Promise<void> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const reader = new ZipFileReader(handle, size);
    const zip = await fromRandomAccessReaderPromise(reader, size, { autoClose: false, decodeStrings: false });
    if (zip.entryCount > limits.maxEntries) {
      throw new ArchiveError(
        `the archive contains ${zip.entryCount} entries, more than ${limits.maxEntries}`,
      );
    }
    for await (const entry of zip.eachEntry()) await unpackZipEntry(zip, entry, tree);
    await checkDirectoryEnd(handle, Number(zip.readEntryCursor)); // a number; the published type is mistaken
  } catch (cause) {
    throw cause instanceof DiskRoomError ? cause : damaged(cause);
  } finally {
    await handle.close();
  }
}

async function unpackZipEntry(zip: ZipFile, entry: Entry, tree: UnpackedTree): Promise<void> {
  const path = entryName(entry);
  const refuse = (fault: string): never => {
    throw new ArchiveError(`entry ${shown(path)}: ${fault}`);
  };
  if (entry.isEncrypted()) refuse('it is encrypted');
  // The upper half holds the Unix mode. Archives from other systems have zeros there.
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

/** Decode the name as UTF-8, with or without the UTF-8 flag (macOS does not set it). */
function entryName(entry: Entry): string {
  return decodeName(entry.fileNameRaw);
}

const methodStored = 0;
const methodDeflated = 8;

/** Yield the content of a file and verify its checksum. The library leaves this check to its caller. */
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

/**
 * Check that the directory ends after the declared entries. Its count has 16 bits, so further files would be
 * skipped silently.
 */
async function checkDirectoryEnd(handle: FileHandle, position: number): Promise<void> {
  const { buffer } = await handle.read({ buffer: Buffer.alloc(4), position });
  if (buffer.toString('latin1') === 'PK\x01\x02') {
    throw new ArchiveError('the archive lists more entries than its directory declares');
  }
}

/** Unpack a tar archive in one pass. Only files and folders are allowed. @throws ArchiveError */
async function unpackTar(
  source: AsyncIterable<Buffer>,
  tree: UnpackedTree,
  limits: ArchiveLimits,
): Promise<void> {
  const parts = tarParts(source, limits);
  try {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      if (next.value.part === 'entry') await unpackTarEntry(next.value.entry, contentOf(parts), tree);
    }
  } finally {
    await parts.return();
  }
}

/**
 * Yield the parts of a tar. Read to the end of the stream, so a checksum after the tar (gzip) is also verified.
 */
async function* tarParts(
  source: AsyncIterable<Buffer>,
  { maxBytes }: ArchiveLimits,
): AsyncGenerator<TarPart, void, undefined> {
  const reader = new TarReader(maxBytes);
  for await (const chunk of source) yield* reader.read(chunk);
  reader.finish();
}

async function unpackTarEntry(
  { path, size, mode, type }: TarHeader,
  content: AsyncIterable<Buffer>,
  tree: UnpackedTree,
): Promise<void> {
  if (type === '5' || (type === '0' && path.endsWith('/') && size === 0)) return tree.addFolder(path);
  if (type !== '0') {
    const fault = refusedTypes[type] ?? `it is of a kind that is not supported (${shown(type)})`;
    throw new ArchiveError(`entry ${shown(path)}: ${fault}`);
  }
  await tree.addFile(path, { size, executable: (mode & 0o100) !== 0 }, content);
}

const refusedTypes: Readonly<Record<string, string>> = {
  '1': 'it is a hard link; links are not allowed',
  '2': 'it is a symbolic link; links are not allowed',
  '3': 'it is a device',
  '4': 'it is a device',
  '6': 'it is a named pipe',
  S: 'it is a sparse file; pack it as an ordinary file',
};

async function* contentOf(
  parts: AsyncGenerator<TarPart, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  for (;;) {
    const { value } = await parts.next();
    if (value?.part !== 'content') return;
    yield value.bytes;
  }
}

async function* readBytes(file: string, format: 'tar' | 'tar.gz'): AsyncGenerator<Buffer, void, undefined> {
  const raw = createReadStream(file, { highWaterMark: chunkBytes });
  if (format === 'tar') {
    yield* raw;
    return;
  }
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  const copied = pipeline(raw, unpacked);
  copied.catch(() => undefined); // the same error comes out of the loop
  try {
    yield* unpacked;
  } catch (cause) {
    throw damaged(cause);
  } finally {
    raw.destroy();
    unpacked.destroy();
  }
}

const chunkBytes = 64 * 1024;
