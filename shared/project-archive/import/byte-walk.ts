import { fault } from '../project-archive-error.ts';

/** Bytes that stream in, taken in runs one after the other. */
export class ByteWalk {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** The next so many bytes, in pieces; all must be taken before the next run is. @throws ProjectArchiveError at the end */
  async *take(length: number): AsyncGenerator<Uint8Array> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) throw fault('it is cut short');
        this.#rest = next.value;
        continue;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async end(): Promise<void> {
    await this.#source.return?.();
  }
}
