import { createHash } from 'node:crypto';
import { S3Error } from '../protocol/s3-error.ts';
import type { BlobFolder, StagedBlob } from './blob-folder.ts';
import {
  type Block,
  BlockSums,
  blockBytes,
  isBlockIntact,
  isIntact,
  readBlocks,
  ShortFileError,
} from './block-sums.ts';
import { blob, type Database, integer, text } from './database.ts';
import { joinEtags, type ObjectAddress, type StoredObject } from './stored-object.ts';

/** Verify the bytes of objects before any of them is sent. */
export class Integrity {
  readonly #database: Database;
  readonly #blobs: BlobFolder;

  constructor(database: Database, blobs: BlobFolder) {
    this.#database = database;
    this.#blobs = blobs;
  }

  /** Within the transaction that first refers to a file: store the checksums of its blocks. */
  keep({ id, sums }: Pick<StagedBlob, 'id' | 'sums'>): void {
    this.#database.sql('INSERT OR REPLACE INTO sums VALUES (?, ?)').run(id, sums());
  }

  /**
   * Refuse an object that is marked as damaged. Read its bad block again, because an operator may have restored
   * the file.
   * @throws S3Error InvalidObjectState
   */
  requireIntact(address: ObjectAddress, { content }: StoredObject): void {
    const marks = this.#database
      .sql(
        'SELECT damaged.file, damaged.block, segments.size FROM damaged CROSS JOIN segments ON segments.file = damaged.file WHERE segments.content = ?',
      )
      .all(content);
    for (const mark of marks) {
      const [file, block] = [text(mark, 'file'), integer(mark, 'block')];
      const sums = this.#sumsOf(file);
      const isHealed =
        block !== somewhere &&
        sums !== undefined &&
        isBlockIntact(this.#blobs.path(file), integer(mark, 'size'), block, sums);
      if (!isHealed) throw damagedObject(address);
      this.#database.sql('DELETE FROM damaged WHERE file = ?').run(file);
    }
  }

  /** Return the files of an object in order. Pin them before reading. */
  segments(content: string): Segment[] {
    return this.#database
      .sql('SELECT file, size FROM segments WHERE content = ? ORDER BY ordinal')
      .all(content)
      .map((row) => ({ file: text(row, 'file'), size: integer(row, 'size') }));
  }

  /**
   * Read bytes `first` to `last` of an object, and verify each block before passing it on. An object of an earlier
   * release has no checksums. A complete read compares it with its ETag and then stores its checksums.
   * @throws S3Error InvalidObjectState at the first bad block, which is logged and recorded
   */
  async *read(
    address: ObjectAddress,
    stored: StoredObject,
    segments: readonly Segment[],
    first: number,
    last: number,
  ): AsyncGenerator<Buffer, void, undefined> {
    const isWhole = first === 0 && last === stored.size - 1;
    if (isWhole && segments.some(({ file, size }) => size > 0 && this.#sumsOf(file) === undefined)) {
      yield* this.#readUnsummed(address, stored, segments);
      return;
    }
    let offset = 0;
    for (const { file, size } of segments) {
      const start = Math.max(first - offset, 0);
      const end = Math.min(last - offset, size - 1);
      offset += size;
      if (start > end) continue;
      for await (const block of this.#blocks(address, { file, size }, start, end)) {
        const at = block.index * blockBytes;
        yield block.bytes.subarray(Math.max(start - at, 0), end - at + 1);
      }
    }
  }

  /** Yield the blocks of a file, and verify each block that has a checksum. */
  async *#blocks(
    address: ObjectAddress,
    { file, size }: Segment,
    start: number,
    end: number,
  ): AsyncGenerator<Block, void, undefined> {
    const sums = this.#sumsOf(file);
    try {
      for await (const block of readBlocks(this.#blobs.path(file), size, start, end)) {
        if (sums !== undefined && !isIntact(block, sums)) throw this.#note(address, file, block.index);
        yield block;
      }
    } catch (error) {
      throw error instanceof ShortFileError
        ? this.#note(address, file, sums === undefined ? somewhere : error.block)
        : error;
    }
  }

  /** Hold back the last block until the whole object matches the MD5 of its ETag. */
  async *#readUnsummed(
    address: ObjectAddress,
    { etag }: StoredObject,
    segments: readonly Segment[],
  ): AsyncGenerator<Buffer, void, undefined> {
    const etags: string[] = [];
    const found: Pick<StagedBlob, 'id' | 'sums'>[] = [];
    let held: Buffer | undefined;
    for (const segment of segments) {
      const md5 = createHash('md5');
      const sums = new BlockSums();
      const blocks = segment.size === 0 ? [] : this.#blocks(address, segment, 0, segment.size - 1);
      for await (const { bytes } of blocks) {
        md5.update(bytes);
        sums.update(bytes);
        if (held !== undefined) yield held;
        held = bytes;
      }
      etags.push(md5.digest('hex'));
      const digest = sums.digest();
      if (this.#sumsOf(segment.file) === undefined) found.push({ id: segment.file, sums: () => digest });
    }
    const isSame = etag.includes('-') ? joinEtags(etags) === etag : etags.length === 1 && etags[0] === etag;
    if (!isSame) {
      const errors = found.map(({ id }) => this.#note(address, id, somewhere));
      throw errors[0] ?? damagedObject(address);
    }
    this.#database.write(() => {
      for (const file of found) this.keep(file);
    });
    if (held !== undefined) yield held;
  }

  #sumsOf(file: string): Uint8Array | undefined {
    const row = this.#database.sql('SELECT sums FROM sums WHERE file = ?').get(file);
    return row === undefined ? undefined : blob(row, 'sums');
  }

  /** Record a damaged file, and log it once. Return the error for the request. */
  #note(address: ObjectAddress, file: string, block: number): S3Error {
    const name = `${address.bucket}/${address.key}`;
    const where =
      block === somewhere ? '' : ` between bytes ${block * blockBytes} and ${(block + 1) * blockBytes - 1}`;
    let isNew = true;
    try {
      isNew = this.#database.sql('INSERT OR IGNORE INTO damaged VALUES (?, ?)').run(file, block).changes > 0;
    } catch {
      // A full disk accepts no record. The next read verifies the bytes again.
    }
    if (isNew) {
      process.stderr.write(
        `s3: ${JSON.stringify(name)} is damaged: ${this.#blobs.path(file)} differs from the stored bytes${where}. The object is refused until it is uploaded again.\n`,
      );
    }
    return damagedObject(address);
  }
}

/** One of the files of an object's bytes. */
export interface Segment {
  file: string;
  size: number;
}

/** Marks a damaged file without checksums, whose bad block is unknown. */
const somewhere = -1;

/**
 * Make the error for a damaged object. S3 uses this code for an object whose state does not allow access. It is
 * not a 5xx error, because clients would retry that, jobs for ten minutes.
 */
function damagedObject({ bucket, key }: ObjectAddress): S3Error {
  return new S3Error(
    'InvalidObjectState',
    `The stored bytes of ${bucket}/${key} are damaged. The object can be uploaded again or deleted.`,
    { BucketName: bucket, Key: key },
  );
}
