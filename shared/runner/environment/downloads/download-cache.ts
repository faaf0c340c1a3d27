import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { DiskRoom } from '../../../archive/disk-room.ts';
import { downloadsPrefix } from '../../../aws/needs.ts';
import type { ObjectWriter } from '../../../aws/objects.ts';

/** The bytes of a download; `size` if it is known. */
export interface DownloadSource {
  body: Readable;
  size: number | undefined;
  from: 'host' | 'bucket' | 'index';
}

/** Maximum bytes of downloads on a host. */
const maxHostBytes = 10 * 1024 ** 3;

/**
 * A cache of package files by their SHA-256 for all projects, on this host and, with `objects`, in the bucket.
 * Only the supervisor writes to it, and only bytes with the right hash. Readers request the hash that their index
 * states, and every read verifies the bytes. So no project can replace a package that another project installs.
 */
export class DownloadCache {
  readonly #folder: string;
  readonly #objects: Pick<ObjectWriter, 'open' | 'head' | 'putFile'> | undefined;
  readonly #uploads = new Set<Promise<void>>();

  constructor(folder: string, objects: Pick<ObjectWriter, 'open' | 'head' | 'putFile'> | undefined) {
    this.#folder = folder;
    this.#objects = objects;
  }

  /** Return the bytes of a hash from this host or the bucket, otherwise from `fetch`. Pass them through `kept`. */
  async find(sha256: string, fetch: () => Promise<DownloadSource>): Promise<DownloadSource> {
    const path = join(this.#folder, sha256);
    const file = await open(path).catch(() => undefined);
    if (file !== undefined) {
      const { size } = await file.stat();
      const now = new Date();
      await utimes(path, now, now).catch(() => undefined);
      return { body: file.createReadStream({ highWaterMark: 1024 * 1024 }), size, from: 'host' };
    }
    const stored = await this.#objects
      ?.open(downloadObject(sha256), { from: 0 })
      // If the bucket does not answer, the file is downloaded again.
      .catch(() => undefined);
    return stored === undefined ? fetch() : { body: stored.body, size: stored.size, from: 'bucket' };
  }

  /**
   * Yield the bytes of a source and keep them if they have the hash. Holds back the last chunk until then, so a
   * reader never receives a whole file with another hash.
   * @throws HashMismatchError
   */
  async *kept(sha256: string, { body, size, from }: DownloadSource): AsyncGenerator<Buffer> {
    if (from === 'host') {
      yield* this.#checked(sha256, body);
      return;
    }
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const draft = join(this.#folder, `.${sha256}-${randomUUID()}`);
    const room = new DiskRoom(this.#folder);
    const file = await open(draft, 'wx', 0o600);
    const hash = createHash('sha256');
    try {
      room.require(size ?? 0, 'a download');
      let last: Buffer | undefined;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        room.require(chunk.length, 'a download');
        hash.update(chunk);
        await file.writeFile(chunk);
        room.use(chunk.length);
        if (last !== undefined) yield last;
        last = chunk;
      }
      const found = hash.digest('hex');
      if (found !== sha256) throw new HashMismatchError(`a download has the hash ${found}, not ${sha256}`);
      await file.sync();
      await rename(draft, join(this.#folder, sha256));
      if (from === 'index') this.#upload(sha256);
      if (last !== undefined) yield last;
    } finally {
      await file.close();
      await rm(draft, { force: true });
    }
  }

  async *#checked(sha256: string, body: Readable): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    let last: Buffer | undefined;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (last !== undefined) yield last;
      last = chunk;
    }
    if (hash.digest('hex') !== sha256) {
      await rm(join(this.#folder, sha256), { force: true });
      throw new HashMismatchError(`the file ${sha256} of this host is damaged`);
    }
    if (last !== undefined) yield last;
  }

  #upload(sha256: string): void {
    const objects = this.#objects;
    if (objects === undefined) return;
    const object = downloadObject(sha256);
    const upload = (async () => {
      if ((await objects.head(object)) === undefined) {
        await objects.putFile(object, join(this.#folder, sha256), 'application/octet-stream');
      }
    })()
      // If the upload fails, the next project downloads the file again.
      .catch(() => undefined)
      .finally(() => this.#uploads.delete(upload));
    this.#uploads.add(upload);
  }

  /** Wait for uploads to the bucket. Then remove the least recently used files of this host above `maxBytes`. */
  async settle(maxBytes = maxHostBytes): Promise<void> {
    await Promise.all(this.#uploads);
    const files: { path: string; bytes: number; used: number }[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const facts = await stat(path).catch(() => undefined);
      if (facts !== undefined) files.push({ path, bytes: facts.size, used: facts.mtimeMs });
    }
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { path, bytes } of files.sort((a, b) => a.used - b.used)) {
      if (total <= maxBytes) return;
      await rm(path, { force: true });
      total -= bytes;
    }
  }
}

/** Key of a download in the bucket. */
const downloadObject = (sha256: string): string => `${downloadsPrefix}${sha256}`;

/** The bytes do not match the index's hash. */
class HashMismatchError extends Error {
  override readonly name = 'HashMismatchError';
}

/** Folder of downloads, next to the folders of projects. Project ids do not begin with a dot. */
export const downloadsFolder = '.downloads';
