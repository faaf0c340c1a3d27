import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, type ZipFile } from 'yauzl';
import { ZipFileReader } from '../../../archive/zip-file-reader.ts';
import { ModelError } from '../model-error.ts';
import { elementCount } from '../tensor/tensor.ts';
import {
  bytesOfElements,
  inCOrder,
  type NpyHeader,
  npyHeaderLength,
  npyPrefix,
  parseNpyHeader,
  swapBytes,
} from './npy-header.ts';
import { readTexts } from './npy-texts.ts';

const maxArrays = 1000;

/** An npz file: a zip archive of arrays. It is read in parts. */
export class NpzFile {
  readonly arrays: ReadonlyMap<string, NpzArray>;
  readonly #file: FileHandle;

  private constructor(file: FileHandle, arrays: ReadonlyMap<string, NpzArray>) {
    this.#file = file;
    this.arrays = arrays;
  }

  /** @throws ModelError if it is not an npz file, or one of its arrays cannot be read */
  static async open(path: string): Promise<NpzFile> {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const reader = new ZipFileReader(file, size);
      const zip = await fromRandomAccessReaderPromise(reader, size, { autoClose: false });
      if (zip.entryCount > maxArrays)
        throw new ModelError(`A data set may have at most ${maxArrays} arrays.`);
      const arrays = new Map<string, NpzArray>();
      for await (const entry of zip.eachEntry()) {
        if (!entry.fileName.endsWith('.npy')) continue;
        const name = entry.fileName.slice(0, -'.npy'.length);
        if (entry.isEncrypted()) throw new ModelError(`The array ${shown(name)} is encrypted.`);
        const openParts = () => new ByteParts(content(zip, entry));
        const header = await headerOf(openParts(), name);
        requireLength(name, header, entry.uncompressedSize);
        arrays.set(name, new NpzArray(name, header, openParts));
      }
      if (arrays.size === 0) throw new ModelError('The data set has no arrays.');
      return new NpzFile(file, arrays);
    } catch (cause) {
      await file.close();
      throw broken(cause);
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/**
 * Maximum bytes of one sample, and of a whole array in Fortran order. An array in Fortran order cannot be read
 * sample by sample.
 */
const maxBytes = 2 ** 30;

/** Most bytes of pickled objects. */
const maxPickle = 64 * 2 ** 20;

/** An array of a data set. */
export class NpzArray {
  readonly name: string;
  readonly header: NpyHeader;
  readonly #open: () => ByteParts;

  constructor(name: string, header: NpyHeader, openParts: () => ByteParts) {
    this.name = name;
    this.header = header;
    this.#open = openParts;
  }

  /**
   * Yield the values in C order, little-endian, in parts of `elements` values. Only an array in Fortran order is
   * in memory as a whole. An incomplete last part is dropped. Parts of no values never end.
   *
   * @throws ModelError if the array is truncated or damaged
   */
  async *parts(elements: number): AsyncGenerator<Uint8Array, void, undefined> {
    const { dims, isFortran, isBigEndian, length } = this.header;
    const total = bytesOfElements(this.header, elementCount(dims)) ?? 0;
    const each = bytesOfElements(this.header, elements) ?? 0;
    const width = bytesOfElements(this.header, 1) ?? 0;
    if ((isFortran && dims.length > 1 ? total : each) > maxBytes) {
      throw new ModelError(
        `The array ${shown(this.name)} is too large to read; save it in C order, with one sample per row.`,
      );
    }
    const source = this.#open();
    try {
      await source.take(length);
      // Each sample of an empty array is empty, as the first cache of a language model is. The caller counts them.
      while (each === 0) yield new Uint8Array();
      const whole = isFortran && dims.length > 1 ? await this.#take(source, total) : undefined;
      const ordered = whole && inCOrder(whole, dims, width);
      for (let at = 0; at + each <= total; at += each) {
        const part = ordered?.subarray(at, at + each) ?? (await this.#take(source, each));
        yield isBigEndian && this.header.texts === undefined ? swapBytes(part, width) : part;
      }
      await this.#take(source, ordered === undefined ? total % each : 0);
      if (!(await source.isEnd()))
        throw new ModelError(`The array ${shown(this.name)} is longer than its header declares.`);
    } finally {
      await source.stop();
    }
  }

  /**
   * Yield the texts in C order, in parts of `elements`. Pickled objects are in memory as a whole.
   *
   * @throws ModelError if the array is truncated, damaged, or holds no texts
   */
  async *texts(elements: number): AsyncGenerator<string[], void, undefined> {
    const { texts: form, dims, isBigEndian, isFortran } = this.header;
    if (form === undefined) throw new ModelError(`The array ${shown(this.name)} does not contain texts.`);
    if (form.kind !== 'O') {
      for await (const part of this.parts(elements)) yield readTexts(part, form, isBigEndian);
      return;
    }
    if (isFortran && dims.length > 1)
      throw new ModelError(`The array ${shown(this.name)} is in Fortran order; save it in C order.`);
    const all = readTexts(await this.#pickle(), form, isBigEndian);
    const expected = elementCount(dims);
    if (all.length !== expected)
      throw new ModelError(`The array ${shown(this.name)} has ${all.length} texts instead of ${expected}.`);
    while (elements === 0) yield [];
    for (let at = 0; at + elements <= all.length; at += elements) yield all.slice(at, at + elements);
  }

  async #pickle(): Promise<Uint8Array> {
    const source = this.#open();
    try {
      await source.take(this.header.length);
      const pickle = await source.take(maxPickle);
      if (!(await source.isEnd()))
        throw new ModelError(
          `The array ${shown(this.name)} of objects is too large; save it with a plain dtype.`,
        );
      return pickle;
    } finally {
      await source.stop();
    }
  }

  async #take(source: ByteParts, length: number): Promise<Uint8Array> {
    const part = await source.take(length);
    if (part.length < length) throw new ModelError(`The array ${shown(this.name)} is truncated.`);
    return part;
  }
}

/** Reads a stream in parts of any length. */
class ByteParts {
  readonly #source: AsyncGenerator<Buffer, void, undefined>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncGenerator<Buffer, void, undefined>) {
    this.#source = source;
  }

  /** Return a copy of the next `length` bytes; fewer at the end. */
  async take(length: number): Promise<Buffer> {
    const part = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) break;
        this.#rest = next.value;
      }
      const copied = this.#rest.copy(part, done);
      this.#rest = this.#rest.subarray(copied);
      done += copied;
    }
    return part.subarray(0, done);
  }

  /** Read to the end, which verifies the checksum. True if nothing remained. */
  async isEnd(): Promise<boolean> {
    return (await this.take(1)).length === 0;
  }

  async stop(): Promise<void> {
    await this.#source.return();
  }
}

const shown = (name: string): string => JSON.stringify(name);

/** Yield the bytes of a file in the archive as they arrive. Verify its checksum at the end. */
async function* content(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer, void, undefined> {
  let checksum = 0;
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      if (!Buffer.isBuffer(chunk)) continue;
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } catch (cause) {
    throw broken(cause);
  }
  if (checksum !== entry.crc32) throw new ModelError(`The checksum of ${shown(entry.fileName)} is wrong.`);
}

const broken = (cause: unknown): ModelError => {
  if (cause instanceof ModelError) return cause;
  return new ModelError(
    `The data set is not an npz file, or is damaged (${cause instanceof Error ? cause.message : String(cause)}).`,
  );
};

async function headerOf(parts: ByteParts, name: string): Promise<NpyHeader> {
  try {
    const prefix = await parts.take(npyPrefix);
    const length = npyHeaderLength(prefix, name);
    const rest = await parts.take(length - npyPrefix);
    return parseNpyHeader(Buffer.concat([prefix, rest]), name);
  } finally {
    await parts.stop();
  }
}

/** Refuse a header whose length does not match the array, even for an array that is not read to its end. */
function requireLength(name: string, header: NpyHeader, size: number): void {
  const bytes = bytesOfElements(header, elementCount(header.dims));
  if (bytes === undefined) return;
  const said = header.length + bytes;
  if (said > size) {
    throw new ModelError(
      `The array ${shown(name)} is truncated: its header declares ${said} bytes, but it has ${size}.`,
    );
  }
  if (said < size) throw new ModelError(`The array ${shown(name)} is longer than its header declares.`);
}
