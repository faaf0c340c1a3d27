import {
  closeSync,
  createWriteStream,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Header, Pax } from 'tar';
import { compressFrames, largestBlock } from './zstd-frames.ts';

const chunkBytes = 1024 * 1024;

/**
 * Pack a sealed environment into one `.tar.zst` file. Only files, folders and symbolic links, sorted and without
 * owners, so that the same environment gives the same pack. Times of files are kept, because compiled Python modules
 * may be valid only for the time of their source. Memory is bounded: files are read in pieces of 1 MB, and a few blocks
 * are compressed at once. Returns its bytes.
 */
export async function packEnvironment(folder: string, file: string, stop: AbortSignal): Promise<number> {
  const frames = compressFrames(tarBlocks(folder));
  await pipeline(frames, createWriteStream(file, { flags: 'wx' }), { signal: stop });
  return (await stat(file)).size;
}

/** The tar archive of a folder, in blocks that are compressed separately. */
export async function* tarBlocks(folder: string): AsyncGenerator<Buffer> {
  // Files are read synchronously: awaiting each of 12,000 files takes longer than reading it.
  const block = new Block();
  yield* entries(block, folder, '');
  // The end mark of an archive.
  block.add(Buffer.alloc(1024));
  yield block.take();
}

/** Flush threshold in bytes. Below it a block has room for one more chunk of a file and its header. */
const blockBytes = largestBlock / 2;

/** A block being filled. Files are read directly into it. */
class Block {
  #bytes = Buffer.allocUnsafe(largestBlock);
  #length = 0;

  get isFull(): boolean {
    return this.#length >= blockBytes;
  }

  add(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Read the next chunk of a file. Returns the number of bytes. */
  read(file: number): number {
    const bytes = readSync(file, this.#bytes, this.#length, chunkBytes, null);
    this.#length += bytes;
    return bytes;
  }

  /** Return the content, and start a new block. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafe(largestBlock);
    this.#length = 0;
    return taken;
  }
}

const epoch = new Date(0);

const padding = Buffer.alloc(511);

/** Add the entries of a folder to a block, and yield it whenever it is full. */
function* entries(block: Block, folder: string, under: string): Generator<Buffer> {
  for (const name of readdirSync(join(folder, under)).sort()) {
    const path = under === '' ? name : `${under}/${name}`;
    const full = join(folder, path);
    const facts = lstatSync(full);
    if (facts.isDirectory()) {
      block.add(header({ path: `${path}/`, mode: 0o755, mtime: epoch, size: 0 }, 'Directory'));
      yield* entries(block, folder, path);
    } else if (facts.isSymbolicLink()) {
      const linkpath = readlinkSync(full);
      block.add(header({ path, linkpath, mode: 0o777, mtime: epoch, size: 0 }, 'SymbolicLink'));
    } else {
      const mtime = new Date(Math.floor(facts.mtimeMs / 1000) * 1000);
      const mode = facts.mode & 0o111 ? 0o555 : 0o444;
      block.add(header({ path, mode, mtime, size: facts.size }, 'File'));
      yield* content(block, full);
      block.add(padding.subarray(0, (512 - (facts.size % 512)) % 512));
    }
    if (block.isFull) yield block.take();
  }
}

type EntryData = ConstructorParameters<typeof Pax>[0];

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

function* content(block: Block, full: string): Generator<Buffer> {
  const file = openSync(full, 'r');
  try {
    while (block.read(file) > 0) if (block.isFull) yield block.take();
  } finally {
    closeSync(file);
  }
}
