import { createWriteStream, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
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

/**
 * Packs a sealed environment into one `.tar.zst` file and gives its size in bytes. Only files, folders and symbolic
 * links, sorted and without owners, so that the same environment gives the same pack. Times of files are kept,
 * because compiled Python modules are valid only for the time of their source. Memory is bounded: files are read in
 * pieces of 1 MB, and a few blocks are compressed at once.
 */
export async function packEnvironment(folder: string, file: string, stop: AbortSignal): Promise<number> {
  await pipeline(compressFrames(tarBlocks(folder)), createWriteStream(file, { flags: 'wx' }), {
    signal: stop,
  });
  return (await stat(file)).size;
}

/** The archive of a folder in blocks, each of which is compressed by itself. */
export async function* tarBlocks(folder: string): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of tarPieces(folder, '')) {
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < blockBytes) continue;
    yield Buffer.concat(waiting, bytes);
    waiting = [];
    bytes = 0;
  }
  yield Buffer.concat([...waiting, Buffer.alloc(1024)]);
}

async function* tarPieces(folder: string, under: string): AsyncGenerator<Buffer> {
  for (const name of readdirSync(join(folder, under)).sort()) {
    const path = under === '' ? name : `${under}/${name}`;
    const full = join(folder, path);
    const facts = lstatSync(full);
    if (facts.isDirectory()) {
      yield header({ path: `${path}/`, mode: 0o755, mtime: epoch, size: 0 }, 'Directory');
      yield* tarPieces(folder, path);
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
