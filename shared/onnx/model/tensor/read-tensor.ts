import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ModelError } from '../model-error.ts';
import { bitsOf, byteLengthOf, type DataTypeName, dataTypeName, dataTypes } from './data-type.ts';
import { type ExternalData, sourceOf } from './external-data.ts';
import { elementCount, lazyTensor, sourceTensor, type Tensor } from './tensor.ts';

/**
 * Read the tensor of a TensorProto. Decodes nothing: raw values stay in `bytes`, external ones in their file.
 * Throws a {@link ModelError} if shape, type and values do not match.
 */
export function readTensor(bytes: Uint8Array, external: ExternalData): Tensor {
  const parsed = parse(bytes);
  const { name, dims } = parsed;
  const type = dataTypeName(parsed.code);
  if (type === undefined)
    throw new ModelError(`The constant ${JSON.stringify(name)} has the unknown type ${parsed.code}.`);
  const elements = checkedDims(dims, name);
  if (type === 'string') {
    const none = new Uint8Array();
    const source = () => sourceOf(none);
    return { name, type, dims, byteLength: 0, bytes: () => none, source, verbatim: bytes };
  }
  const byteLength = byteLengthOf(type, elements);
  const fault = (text: string) => new ModelError(`The constant ${JSON.stringify(name)} ${text}.`);
  if (parsed.isExternal) {
    const length = safeInteger(parsed.external.get('length'), byteLength);
    if (length !== byteLength)
      throw fault(`has ${length} bytes of external data, but its shape needs ${byteLength}`);
    const offset = safeInteger(parsed.external.get('offset'), 0);
    return sourceTensor(
      name,
      type,
      dims,
      external.range(parsed.external.get('location') ?? '', offset, byteLength),
    );
  }
  const { raw } = parsed;
  if (raw !== undefined && parsed.typed.length === 0) {
    if (raw.byteLength !== byteLength)
      throw fault(`has ${raw.byteLength} bytes, but its shape needs ${byteLength}`);
    return lazyTensor(name, type, dims, () => raw);
  }
  const typedRaw = (): Uint8Array => {
    try {
      return rawOfTyped(parsed, byteLength);
    } catch (error) {
      throw error instanceof ModelError ? fault(error.message) : error;
    }
  };
  // Check now and decode again later, to avoid a second copy in memory.
  typedRaw();
  return lazyTensor(name, type, dims, typedRaw);
}

interface Parsed {
  name: string;
  code: number;
  dims: number[];
  raw: Uint8Array | undefined;
  /** Undecoded typed data of the message, by field. */
  typed: { no: number; wire: WireType; bytes: Uint8Array }[];
  external: Map<string, string>;
  isExternal: boolean;
}

/** Field numbers of TensorProto. */
const field = {
  dims: 1,
  data_type: 2,
  segment: 3,
  float_data: 4,
  int32_data: 5,
  string_data: 6,
  int64_data: 7,
  name: 8,
  raw_data: 9,
  double_data: 10,
  uint64_data: 11,
  external_data: 13,
  data_location: 14,
} as const;

const maxDims = 64;

function parse(message: Uint8Array): Parsed {
  const reader = new BinaryReader(message);
  const parsed: Parsed = {
    name: '',
    code: 0,
    dims: [],
    raw: undefined,
    typed: [],
    external: new Map(),
    isExternal: false,
  };
  while (reader.pos < reader.len) {
    const [no, wire] = reader.tag();
    if (no === field.dims && wire === WireType.Varint) parsed.dims.push(Number(reader.int64()));
    else if (no === field.dims && wire === WireType.LengthDelimited) {
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) parsed.dims.push(Number(reader.int64()));
    } else if (no === field.data_type) parsed.code = reader.int32();
    else if (no === field.name) parsed.name = reader.string();
    else if (no === field.raw_data) parsed.raw = reader.bytes();
    else if (no === field.data_location) parsed.isExternal = reader.int32() === 1;
    else if (no === field.external_data) readEntry(reader.bytes(), parsed.external);
    else if (no === field.segment) throw new ModelError('Tensors in segments are not supported.');
    else if (no >= field.float_data && no <= field.uint64_data) {
      const start = reader.pos;
      const packed = wire === WireType.LengthDelimited ? reader.bytes() : undefined;
      if (packed === undefined) reader.skip(wire, no);
      parsed.typed.push({ no, wire, bytes: packed ?? message.subarray(start, reader.pos) });
    } else reader.skip(wire, no);
    if (parsed.dims.length > maxDims) throw new ModelError(`A tensor has more than ${maxDims} dimensions.`);
  }
  return parsed;
}

function readEntry(bytes: Uint8Array, entries: Map<string, string>): void {
  const reader = new BinaryReader(bytes);
  let [key, value] = ['', ''];
  while (reader.pos < reader.len) {
    const [no, wire] = reader.tag();
    if (no === 1) key = reader.string();
    else if (no === 2) value = reader.string();
    else reader.skip(wire, no);
  }
  entries.set(key, value);
}

function checkedDims(dims: readonly number[], name: string): number {
  const bad = dims.find((dim) => !Number.isSafeInteger(dim) || dim < 0);
  const elements = elementCount(dims);
  if (bad !== undefined || !Number.isSafeInteger(elements) || elements > 2 ** 40) {
    throw new ModelError(
      `The constant ${JSON.stringify(name)} has impossible dimensions [${dims.join(', ')}].`,
    );
  }
  return elements;
}

const safeInteger = (text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  return /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
};

/** Convert the typed fields to raw form. Fixed-width values are copied; varints are narrowed to the type. */
function rawOfTyped({ typed, code }: Parsed, byteLength: number): Uint8Array {
  const out = new Uint8Array(byteLength);
  const type = dataTypeName(code);
  const width = type === undefined ? 0 : bitsOf(type) / 8;
  const isComplex = type === 'complex64' || type === 'complex128';
  let at = 0;
  const put = (bytes: Uint8Array): void => {
    if (at + bytes.length > byteLength) throw new ModelError('has more values than its shape');
    out.set(bytes, at);
    at += bytes.length;
  };
  const little = new DataView(new ArrayBuffer(8));
  for (const { no, wire, bytes } of typed) {
    if (no === field.float_data || no === field.double_data) put(bytes);
    else {
      const reader = new BinaryReader(bytes);
      while (reader.pos < reader.len) {
        little.setBigInt64(0, BigInt.asIntN(64, BigInt(reader.int64())), true);
        // Types below a byte are packed, one byte per entry.
        put(new Uint8Array(little.buffer, 0, Math.max(1, Math.floor(isComplex ? 0 : width))));
        if (wire !== WireType.LengthDelimited) break;
      }
    }
  }
  if (at !== byteLength) throw new ModelError(`has ${at} bytes of values, but its shape needs ${byteLength}`);
  return out;
}

/** Return a TensorProto with another name. The last name of a message counts. */
export function renamedTensor(message: Uint8Array, rename: (name: string) => string): Uint8Array {
  const name = new BinaryWriter()
    .tag(field.name, WireType.LengthDelimited)
    .string(rename(parse(message).name));
  return new Uint8Array(Buffer.concat([message, name.finish()]));
}

/** Location of a tensor's external values. */
export interface ExternalLocation {
  location: string;
  offset: number;
}

/**
 * Write the TensorProto of a tensor up to its values. Non-external values follow it, so writing never copies them.
 * Together they have `header.length + (external ? 0 : byteLength)` bytes.
 */
export function tensorHeader(tensor: Tensor, place?: ExternalLocation): Uint8Array {
  if (tensor.verbatim !== undefined) return tensor.verbatim;
  const writer = new BinaryWriter();
  for (const dim of tensor.dims) writer.tag(1, WireType.Varint).int64(dim);
  writer.tag(2, WireType.Varint).int32(dataTypes[tensor.type]);
  writer.tag(8, WireType.LengthDelimited).string(tensor.name);
  if (place === undefined) writer.tag(9, WireType.LengthDelimited).uint32(tensor.byteLength);
  else {
    const entries = {
      location: place.location,
      offset: String(place.offset),
      length: String(tensor.byteLength),
    };
    for (const [key, value] of Object.entries(entries))
      writer.tag(13, WireType.LengthDelimited).bytes(entry(key, value));
    writer.tag(14, WireType.Varint).int32(1);
  }
  return writer.finish();
}

/** Fields of integers, and the largest tensor that is stored in them, in bytes. */
const integerFields: Readonly<Partial<Record<DataTypeName, number>>> = { int32: 5, int64: 7 };
const maxIntegers = 1024;

/**
 * Write the whole TensorProto of integers as varints if that takes fewer bytes than their raw form: most shapes, axes
 * and indices take a byte for a number. Undefined for other tensors.
 */
export function integerMessage(tensor: Tensor): Uint8Array | undefined {
  const { type, dims, name, byteLength, verbatim } = tensor;
  const integers = integerFields[type];
  if (integers === undefined || verbatim !== undefined || byteLength > maxIntegers) return undefined;
  const { buffer } = new Uint8Array(tensor.bytes());
  const values = new BinaryWriter();
  for (const value of type === 'int64' ? new BigInt64Array(buffer) : new Int32Array(buffer))
    values.int64(value);
  const packed = values.finish();
  if (packed.length >= byteLength) return undefined;
  const writer = new BinaryWriter();
  for (const dim of dims) writer.tag(1, WireType.Varint).int64(dim);
  writer.tag(2, WireType.Varint).int32(dataTypes[type]);
  writer.tag(integers, WireType.LengthDelimited).bytes(packed);
  return writer.tag(8, WireType.LengthDelimited).string(name).finish();
}

const entry = (key: string, value: string): Uint8Array =>
  new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(key)
    .tag(2, WireType.LengthDelimited)
    .string(value)
    .finish();

/** Write the whole TensorProto of a small tensor, for an attribute. */
export function tensorMessage(tensor: Tensor): Uint8Array {
  const integers = integerMessage(tensor);
  if (integers !== undefined) return integers;
  const header = tensorHeader(tensor);
  if (tensor.verbatim !== undefined) return header;
  const message = new Uint8Array(header.length + tensor.byteLength);
  message.set(header);
  message.set(tensor.bytes(), header.length);
  return message;
}
