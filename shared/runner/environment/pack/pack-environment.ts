import {
  createReadStream,
  createWriteStream,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
} from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Header, Pax } from 'tar';
import { compressFrames, largestBlock } from './zstd-frames.ts';

const chunkBytes = 1024 * 1024;
/** Joined pieces: half as many bytes as a block may have, before the last piece. */
const blockBytes = largestBlock / 2;
const epoch = new Date(0);

type EntryData = ConstructorParameters<typeof Pax>[0];

/** Files of a virtual environment that hold its path: its settings, and the programs in `bin`. They come first in a pack. */
export const holdsPath = (path: string): boolean =>
  path === 'pyvenv.cfg' || path === 'bin' || path.startsWith('bin/');

/** A pack, and where in it the frames begin that do not depend on the folder's path. */
export interface PackedEnvironment {
  bytes: number;
  commonAt: number;
}

/** The pack of an environment with the same files but those that hold the path. */
export interface EarlierPack {
  file: string;
  commonAt: number;
}

/**
 * Pack a sealed environment into one `.tar.zst` file. Only files, folders and symbolic links, sorted and without owners,
 * so that the same environment gives the same pack. Times of files are kept, because compiled Python modules are valid
 * only for the time of their source. Memory is bounded: files are read in pieces of 1 MB, and a few blocks are compressed
 * at once. What does not depend on the path is copied from an earlier pack where one is given.
 */
export async function packEnvironment(
  folder: string,
  file: string,
  stop: AbortSignal,
  earlier?: EarlierPack,
): Promise<PackedEnvironment> {
  const own = compressFrames(tarBlocks(folder, holdsPath));
  await pipeline(own, createWriteStream(file, { flags: 'wx' }), { signal: stop });
  const commonAt = (await stat(file)).size;
  const common =
    earlier === undefined
      ? compressFrames(ended(tarBlocks(folder, (path) => !holdsPath(path))))
      : createReadStream(earlier.file, { start: earlier.commonAt, highWaterMark: chunkBytes });
  await pipeline(common, createWriteStream(file, { flags: 'a' }), { signal: stop });
  return { bytes: (await stat(file)).size, commonAt };
}

/** Blocks of an archive with its end mark. */
export async function* ended(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* blocks;
  yield Buffer.alloc(1024);
}

/** The archive of some top-level entries of a folder in blocks, each of which is compressed by itself. */
export async function* tarBlocks(
  folder: string,
  isWanted: (path: string) => boolean,
): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of tarPieces(folder, '', isWanted)) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < blockBytes) continue;
    yield Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting, bytes);
}

async function* tarPieces(
  folder: string,
  under: string,
  isWanted: (path: string) => boolean,
): AsyncGenerator<Buffer> {
  for (const name of readdirSync(join(folder, under)).sort()) {
    const path = under === '' ? name : `${under}/${name}`;
    if (!isWanted(path)) continue;
    const full = join(folder, path);
    const facts = lstatSync(full);
    if (facts.isDirectory()) {
      yield header({ path: `${path}/`, mode: 0o755, mtime: epoch, size: 0 }, 'Directory');
      yield* tarPieces(folder, path, isWanted);
    } else if (facts.isSymbolicLink()) {
      const linkpath = readlinkSync(full);
      yield header({ path, linkpath, mode: 0o777, mtime: epoch, size: 0 }, 'SymbolicLink');
    } else {
      const mtime = new Date(Math.floor(facts.mtimeMs / 1000) * 1000);
      const mode = facts.mode & 0o111 ? 0o555 : 0o444;
      yield header({ path, mode, mtime, size: facts.size }, 'File');
      if (facts.size <= chunkBytes) yield readFileSync(full);
      else yield* largeFile(full);
      yield Buffer.alloc((512 - (facts.size % 512)) % 512);
    }
  }
}

async function* largeFile(full: string): AsyncGenerator<Buffer> {
  const file = await open(full);
  try {
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: chunkBytes }))
      yield chunk;
  } finally {
    await file.close();
  }
}

function header(data: EntryData, type: 'File' | 'Directory' | 'SymbolicLink'): Buffer {
  const entry = new Header({ ...data, uid: 0, gid: 0, type });
  const block = Buffer.alloc(512);
  const needsPax = entry.encode(block, 0);
  if (!needsPax) return block;
  const { path, linkpath, size } = data;
  new Header({ ...data, path: 'long-name', linkpath: '', uid: 0, gid: 0, type }).encode(block, 0);
  const extended = new Pax({
    ...(path === undefined ? {} : { path }),
    ...(linkpath === undefined ? {} : { linkpath }),
    ...(size === undefined ? {} : { size }),
  });
  return Buffer.concat([extended.encode(), block]);
}
