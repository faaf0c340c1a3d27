import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { toBinary } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { computeFilled } from '../graph/constants.ts';
import { ModelProtoSchema } from '../proto/onnx_pb.js';
import { type ExternalLocation, integerMessage, tensorHeader } from '../tensor/read-tensor.ts';
import type { Tensor } from '../tensor/tensor.ts';
import type { Model } from './model.ts';

/** Default file name of a saved model. */
const usualName = 'model.onnx';

/**
 * Write a model into an empty folder, one tensor after the other, and return its files. Use external data if the
 * model had external data or is too large without. Request each tensor's bytes once, in graph order. The data file
 * is called `<name>.data`, so several models can share a folder. `progress` receives the written share and the
 * bytes of all tensors.
 */
export function saveModel(
  model: Model,
  folder: string,
  name = usualName,
  progress: (fraction: number, bytes: number) => void = () => {},
): string[] {
  const restore = computeFilled(model.graph, model.opset());
  try {
    return writeModel(model, folder, name, progress);
  } finally {
    restore();
  }
}

/** Models above this many bytes are saved with external data. The format's limit is 2 GiB. */
const maxInline = 1.9 * 2 ** 30;

/**
 * Tensors below this many bytes stay in the model file, because other tools read shapes and similar constants
 * there.
 */
const minExternal = 1024;

/** Field numbers of ModelProto.graph and GraphProto.initializer. */
const field = { graph: 7, initializer: 5 } as const;

function writeModel(
  model: Model,
  folder: string,
  name: string,
  progress: (fraction: number, bytes: number) => void,
): string[] {
  const dataFile = `${name}.data`;
  const { graph, proto } = model;
  const tensors = [...graph.initializers.values()];
  const total = tensors.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let done = 0;
  const written = ({ byteLength }: Tensor): void => {
    done += byteLength;
    progress(total === 0 ? 1 : done / total, total);
  };
  const isExternal = model.external.locations.length > 0 || total > maxInline;
  const outside = isExternal ? tensors.filter(({ byteLength }) => byteLength >= minExternal) : [];
  const places = outside.length === 0 ? new Map() : writeExternal(outside, folder, dataFile, written);
  const body = graph.serialized(proto.irVersion);
  const parts = tensors.map((tensor) => {
    const place = places.get(tensor);
    const whole = place === undefined ? (integerMessage(tensor) ?? tensor.verbatim) : undefined;
    const header = whole ?? tensorHeader(tensor, place);
    const valueBytes = place === undefined && whole === undefined ? tensor.byteLength : 0;
    return { tensor, header, valueBytes, before: prefix(field.initializer, header.length + valueBytes) };
  });
  const graphLength = parts.reduce(
    (sum, { header, valueBytes, before }) => sum + before.length + header.length + valueBytes,
    body.length,
  );
  const file = new FileWriter(join(folder, name));
  try {
    file.write(toBinary(ModelProtoSchema, proto));
    file.write(prefix(field.graph, graphLength));
    file.write(body);
    for (const { tensor, header, valueBytes, before } of parts) {
      file.write(before);
      file.write(header);
      if (valueBytes === 0) continue;
      file.write(tensor.bytes());
      written(tensor);
    }
  } finally {
    file.close();
  }
  return places.size > 0 ? [name, dataFile] : [name];
}

/** External tensors start at multiples of a page, so they can be memory-mapped. */
const page = 4096;

/** Write tensors to the file `location` within a folder. The model refers to it by this name. */
function writeExternal(
  tensors: readonly Tensor[],
  folder: string,
  location: string,
  written: (tensor: Tensor) => void,
): Map<Tensor, ExternalLocation> {
  const places = new Map<Tensor, ExternalLocation>();
  const file = new FileWriter(join(folder, location));
  try {
    for (const tensor of tensors) {
      file.write(new Uint8Array((page - (file.position % page)) % page));
      places.set(tensor, { location, offset: file.position });
      file.write(tensor.bytes());
      written(tensor);
    }
  } finally {
    file.close();
  }
  return places;
}

class FileWriter {
  readonly #fd: number;
  position = 0;

  constructor(path: string) {
    this.#fd = openSync(path, 'wx');
  }

  write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      done += writeSync(this.#fd, bytes, done, Math.min(bytes.length - done, 2 ** 30));
    }
    this.position += bytes.length;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const prefix = (fieldNumber: number, length: number): Uint8Array =>
  new BinaryWriter().tag(fieldNumber, WireType.LengthDelimited).uint32(length).finish();

/**
 * Return an ONNX file's bytes with renamed external data files.
 *
 * @param names new names by the present ones
 */
export const renameData = (model: Uint8Array, names: ReadonlyMap<string, string>): Uint8Array =>
  renamed(model, 'model', names);

type Message =
  | 'model'
  | 'training'
  | 'function'
  | 'graph'
  | 'node'
  | 'attribute'
  | 'sparse'
  | 'tensor'
  | 'entry';

/** Field numbers of nested messages on the path to external data locations, by message. */
const inner: Readonly<Record<Message, Readonly<Record<number, Message>>>> = {
  model: { 7: 'graph', 20: 'training', 25: 'function' },
  training: { 1: 'graph', 2: 'graph' },
  function: { 7: 'node' },
  graph: { 1: 'node', 5: 'tensor', 15: 'sparse' },
  node: { 5: 'attribute' },
  attribute: { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse' },
  sparse: { 1: 'tensor', 2: 'tensor' },
  tensor: { 13: 'entry' },
  entry: {},
};

function renamed(bytes: Uint8Array, message: Message, names: ReadonlyMap<string, string>): Uint8Array {
  if (message === 'entry') return renamedEntry(bytes, names);
  const writer = new BinaryWriter();
  for (const reader = new BinaryReader(bytes); reader.pos < reader.len; ) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    const kind = type === WireType.LengthDelimited ? inner[message][number] : undefined;
    if (kind === undefined) {
      reader.skip(type, number);
      writer.raw(bytes.subarray(start, reader.pos));
    } else writer.tag(number, type).bytes(renamed(reader.bytes(), kind, names));
  }
  return writer.finish();
}

const entry = { key: 1, value: 2 } as const;

/** Return an entry of a tensor's external data. A `location` with a new name is replaced. */
function renamedEntry(bytes: Uint8Array, names: ReadonlyMap<string, string>): Uint8Array {
  const texts = new Map<number, string>();
  for (const reader = new BinaryReader(bytes); reader.pos < reader.len; ) {
    const [number, type] = reader.tag();
    if (type === WireType.LengthDelimited) texts.set(number, reader.string());
    else reader.skip(type, number);
  }
  const renamed = names.get(texts.get(entry.value) ?? '');
  if (texts.get(entry.key) !== 'location' || renamed === undefined) return bytes;
  const writer = new BinaryWriter().tag(entry.key, WireType.LengthDelimited).string('location');
  return writer.tag(entry.value, WireType.LengthDelimited).string(renamed).finish();
}
