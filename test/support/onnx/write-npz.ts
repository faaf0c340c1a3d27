import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { DataTypeName } from '../../../shared/onnx/model/tensor/data-type.ts';

/** An array to write: values in C order, little-endian. */
export interface ArrayToWrite {
  type: DataTypeName;
  dims: readonly number[];
  values: ArrayBufferView;
}

interface Written {
  name: Buffer;
  crc: number;
  size: number;
  offset: number;
}

/** Write arrays as an uncompressed npz file, as `numpy.savez` does. At most 4 GiB in total. */
export async function writeNpz(path: string, arrays: Readonly<Record<string, ArrayToWrite>>): Promise<void> {
  const file = await open(path, 'w');
  try {
    const written: Written[] = [];
    let offset = 0;
    const put = async (bytes: Uint8Array): Promise<void> => {
      offset += bytes.length;
      if (offset > 2 ** 32 - 1) throw new RangeError('an npz file of this kind has at most 4 GiB');
      await file.writeFile(bytes);
    };
    for (const [key, { type, dims, values }] of Object.entries(arrays)) {
      const head = npyHead(type, dims);
      const body = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      const name = Buffer.from(`${key}.npy`, 'utf8');
      const entry = { name, crc: crc32(body, crc32(head)), size: head.length + body.length, offset };
      written.push(entry);
      for (const bytes of [localHeader(entry), head, body]) await put(bytes);
    }
    const start = offset;
    for (const entry of written) await put(centralHeader(entry));
    await put(directoryEnd(written.length, offset - start, start));
  } finally {
    await file.close();
  }
}

const localHead = 30;

function localHeader(file: Written): Buffer {
  const head = Buffer.alloc(localHead);
  head.writeUInt32LE(0x04034b50, 0);
  putShared(head, 4, file);
  return Buffer.concat([head, file.name]);
}

/**
 * Write the fields that the local and the central zip header share: version, flags, method (stored), time,
 * checksum and sizes.
 */
function putShared(head: Buffer, at: number, { name, crc, size }: Written): void {
  head.writeUInt16LE(20, at);
  // 1 January 1980, so the archive depends only on its content.
  head.writeUInt16LE(0x21, at + 8);
  head.writeUInt32LE(crc, at + 10);
  head.writeUInt32LE(size, at + 14);
  head.writeUInt32LE(size, at + 18);
  head.writeUInt16LE(name.length, at + 22);
}

const centralHead = 46;

function centralHeader(file: Written): Buffer {
  const head = Buffer.alloc(centralHead);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(20, 4);
  putShared(head, 6, file);
  head.writeUInt32LE(file.offset, 42);
  return Buffer.concat([head, file.name]);
}

const endHead = 22;

function directoryEnd(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(endHead);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}

/** NumPy's codes of types. */
const typeCodes: Readonly<Partial<Record<DataTypeName, string>>> = {
  ...{ float16: 'f2', float: 'f4', double: 'f8', bool: 'b1' },
  ...{ int8: 'i1', int16: 'i2', int32: 'i4', int64: 'i8' },
  ...{ uint8: 'u1', uint16: 'u2', uint32: 'u4', uint64: 'u8' },
};

/** Return the header of an array in C order, padded to a multiple of 64 bytes. */
function npyHead(type: DataTypeName, dims: readonly number[]): Uint8Array {
  const code = typeCodes[type];
  if (code === undefined) throw new TypeError(`NumPy has no type for ${type}.`);
  const endian = code.endsWith('1') ? '|' : '<';
  const shape = dims.length === 1 ? `${dims[0]},` : dims.join(', ');
  const text = `{'descr': '${endian}${code}', 'fortran_order': False, 'shape': (${shape}), }`;
  const length = Math.ceil((10 + text.length + 1) / 64) * 64;
  const head = Buffer.alloc(length, ' ');
  head.write('\x93NUMPY', 'latin1');
  head.writeUInt8(1, 6);
  head.writeUInt8(0, 7);
  head.writeUInt16LE(length - 10, 8);
  head.write(text, 10, 'latin1');
  head.write('\n', length - 1, 'latin1');
  return head;
}
