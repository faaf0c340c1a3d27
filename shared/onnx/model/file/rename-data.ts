import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

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

/** Which messages hold those that tell where external data are, by the numbers of their fields. */
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
const entry = { key: 1, value: 2 } as const;

/** An entry of a tensor's external data, with the new name where it is a location that has one. */
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

/**
 * The bytes of an ONNX file that knows its external data by other names.
 *
 * @param names new ones by the present ones
 */
export const renameData = (model: Uint8Array, names: ReadonlyMap<string, string>): Uint8Array =>
  renamed(model, 'model', names);
