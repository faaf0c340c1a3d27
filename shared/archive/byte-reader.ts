import { ArchiveError } from './archive-error.ts';

/** Reads exact numbers of bytes from a stream of chunks, holding no more than one chunk beyond what is asked. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** The next `length` bytes, or null at the end of the stream. @throws ArchiveError when it ends among them */
  async read(length: number): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    for await (const part of this.#take(length)) parts.push(part);
    if (parts.length === 0 && length > 0) return null;
    const bytes = Buffer.concat(parts);
    if (bytes.length < length) throw cutShort();
    return bytes;
  }

  /** The next `length` bytes in pieces. @throws ArchiveError when the stream ends among them */
  async *stream(length: number): AsyncGenerator<Buffer, void, undefined> {
    let missing = length;
    for await (const part of this.#take(length)) {
      missing -= part.length;
      yield part;
    }
    if (missing > 0) throw cutShort();
  }

  /** Lets go of the stream, read to its end or not. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async *#take(length: number): AsyncGenerator<Buffer, void, undefined> {
    for (let missing = length; missing > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) return;
        this.#rest = next.value;
      }
      const part = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(part.length);
      missing -= part.length;
      if (part.length > 0) yield part;
    }
  }
}

function cutShort(): ArchiveError {
  return new ArchiveError('the archive is cut short');
}
