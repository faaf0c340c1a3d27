import { createReadStream } from 'node:fs';
import { chmod, chown, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ArchiveError, type ArchiveLimits, damaged } from './archive-error.ts';
import type { DiskRoom } from './disk-room.ts';
import { hasTarChecksum, isZeroBlock, tarBlockBytes } from './tar-header.ts';
import { unpackTar } from './unpack-tar.ts';
import { type Owner, UnpackedTree } from './unpacked-tree.ts';
import { unpackZip } from './zip-entries.ts';

const chunkBytes = 64 * 1024;

/**
 * Unpack an archive from a user (tar, tar.gz or zip, recognized by its content and not by its name) to the folder
 * `into`, which must not exist yet or be empty, in an existing folder. Either everything is there afterwards or
 * nothing. Only files and folders, with modes 0644, 0755 where the owner may execute, and 0755 for folders; a single
 * top folder stays. Memory does not grow with the archive.
 * @returns how many files and folders, and how many bytes, there are
 * @throws ArchiveError for an invalid archive; DiskRoomError before the disk is full; errors of the file system as
 * they are
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
  // A sibling, so that the last step is one rename; mkdtemp makes it enterable by this user alone.
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

type Format = 'tar' | 'tar.gz' | 'zip';

async function archiveFormat(file: string): Promise<Format> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(tarBlockBytes), position: 0 });
    const start = buffer.subarray(0, bytesRead);
    if (start.subarray(0, 2).equals(Buffer.of(0x1f, 0x8b))) return 'tar.gz';
    // A local file header, or the end record that is all there is of an empty archive.
    if (['PK\x03\x04', 'PK\x05\x06'].includes(start.toString('latin1', 0, 4))) return 'zip';
    if (hasTarChecksum(start) || (bytesRead === tarBlockBytes && isZeroBlock(start))) return 'tar';
  } finally {
    await handle.close();
  }
  throw new ArchiveError('the file is neither a tar.gz, a tar nor a zip archive');
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
