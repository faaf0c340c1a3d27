import { ModelError } from '../model-error.ts';
import { byteLengthOf, type DataTypeName } from '../tensor/data-type.ts';
import { type TextForm, textBytes, textForm } from './npy-texts.ts';

/** The header of an npy file: NumPy enhancement proposal 1, format versions 1 to 3. */
export interface NpyHeader {
  type: DataTypeName;
  /** How it holds texts, if its type is string. */
  texts?: TextForm;
  dims: number[];
  /** Whether the first index varies fastest. */
  isFortran: boolean;
  isBigEndian: boolean;
  /** Offset of the values in bytes. */
  length: number;
}

/** Return the bytes of elements; undefined for pickled objects, whose bytes no header tells. */
export function bytesOfElements({ type, texts }: NpyHeader, elements: number): number | undefined {
  const each = texts === undefined ? undefined : textBytes(texts);
  if (texts === undefined) return byteLengthOf(type, elements);
  return each === undefined ? undefined : each * elements;
}

/** Bytes that {@link npyHeaderLength} needs. */
export const npyPrefix = 12;

const magic = Buffer.from('\x93NUMPY', 'latin1');

/** Maximum bytes of a header. Longer headers belong to record arrays. */
const longestHeader = 64 * 1024;

/** Read the length of the whole header from its first 12 bytes. */
export function npyHeaderLength(prefix: Uint8Array, name: string): number {
  const bytes = Buffer.from(prefix.buffer, prefix.byteOffset, prefix.byteLength);
  if (bytes.length < npyPrefix || !bytes.subarray(0, 6).equals(magic)) {
    throw new ModelError(`The array ${JSON.stringify(name)} is not in NumPy's format.`);
  }
  const version = bytes.readUInt8(6);
  if (version < 1 || version > 3) {
    throw new ModelError(
      `The array ${JSON.stringify(name)} has format version ${version}; 1 to 3 are supported.`,
    );
  }
  const length = version === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8);
  if (length > longestHeader)
    throw new ModelError(`The header of the array ${JSON.stringify(name)} is too long.`);
  return length;
}

const typeNames: Readonly<Record<string, DataTypeName>> = {
  f2: 'float16',
  f4: 'float',
  f8: 'double',
  b1: 'bool',
  i1: 'int8',
  i2: 'int16',
  i4: 'int32',
  i8: 'int64',
  u1: 'uint8',
  u2: 'uint16',
  u4: 'uint32',
  u8: 'uint64',
};

/** Parse a header of {@link npyHeaderLength} bytes. */
export function parseNpyHeader(head: Uint8Array, name: string): NpyHeader {
  const refused = (fault: string) => new ModelError(`The array ${JSON.stringify(name)} ${fault}.`);
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
    .toString('latin1', head[6] === 1 ? 10 : 12)
    .trim();
  const descr = /'descr':\s*'([<>=|])([a-zA-Z])(\d{0,6})'/.exec(text);
  const order = /'fortran_order':\s*(True|False)/.exec(text);
  const shape = /'shape':\s*\(([\d,\sL]*)\)/.exec(text);
  if (descr === null) {
    throw refused(
      'does not contain numbers or booleans of one type; save it with a plain dtype such as float32',
    );
  }
  if (order === null || shape === null) throw refused('has an unreadable header');
  const [, endian, kind, size] = descr;
  const texts = textForm(kind ?? '', Number(size));
  const type = texts === undefined ? typeNames[`${kind}${size}`] : 'string';
  if (type === undefined) {
    const allowed = 'float16, float32, float64, bool, integers of 8 to 64 bits, and texts';
    throw refused(`has the type ${kind}${size}; allowed are ${allowed}`);
  }
  const dims = (shape[1] ?? '')
    .split(',')
    .map((dim) => dim.trim().replace(/L$/, ''))
    .filter((dim) => dim !== '')
    .map(Number);
  const elements = dims.reduce((product, dim) => product * dim, 1);
  if (dims.length > 32 || !Number.isSafeInteger(elements) || elements > 2 ** 40) {
    throw refused(`has impossible dimensions (${dims.join(', ')})`);
  }
  const form = { isFortran: order[1] === 'True', isBigEndian: endian === '>', length: head.length };
  return { type, dims, ...form, ...(texts !== undefined && { texts }) };
}

/** Convert values from Fortran order to C order. */
export function inCOrder(bytes: Uint8Array, dims: readonly number[], width: number): Uint8Array {
  const out = new Uint8Array(bytes.length);
  const strides = dims.map((_, axis) => dims.slice(0, axis).reduce((product, dim) => product * dim, 1));
  const index = dims.map(() => 0);
  let from = 0;
  for (let to = 0; to < out.length; to += width) {
    for (let byte = 0; byte < width; byte += 1) out[to + byte] = bytes[from * width + byte] ?? 0;
    for (let axis = dims.length - 1; axis >= 0; axis -= 1) {
      const [at = 0, stride = 0, dim = 0] = [index[axis], strides[axis], dims[axis]];
      from += stride;
      index[axis] = at + 1;
      if (at + 1 < dim) break;
      from -= stride * dim;
      index[axis] = 0;
    }
  }
  return out;
}

/** Reverse the byte order of values. */
export function swapBytes(bytes: Uint8Array, width: number): Uint8Array {
  const out = Buffer.from(bytes);
  if (width === 2) out.swap16();
  if (width === 4) out.swap32();
  if (width === 8) out.swap64();
  return out;
}
