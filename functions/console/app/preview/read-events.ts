import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { Curve } from '../charts/reading/curve.ts';

/** Picture of an event file. */
export interface EventPicture {
  step: number;
  url: string;
}

export interface Events {
  scalars: ReadonlyMap<string, Curve>;
  pictures: ReadonlyMap<string, readonly EventPicture[]>;
}

interface Value {
  tag: string;
  scalar?: number;
  picture?: Uint8Array;
}

/** Call `onField` for each field of a protobuf message. A field that it does not read is skipped. */
function readFields(
  bytes: Uint8Array,
  onField: (field: number, reader: BinaryReader, type: WireType) => boolean,
): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (!onField(field, reader, type)) reader.skip(type, field);
  }
}

/** Read a `TensorProto`: a number as `add_scalar` of TensorFlow 2 writes it, or encoded pictures. */
function readTensor(bytes: Uint8Array): Pick<Value, 'scalar' | 'picture'> {
  const found: { scalar?: number; picture?: Uint8Array } = {};
  let dtype = 0;
  let content: Uint8Array | undefined;
  const strings: Uint8Array[] = [];
  readFields(bytes, (field, reader, type) => {
    if (field === 1) dtype = reader.int32();
    else if (field === 4) content = reader.bytes();
    else if (field === 5) {
      if (type === WireType.LengthDelimited) {
        const packed = reader.bytes();
        if (packed.length >= 4)
          found.scalar = new DataView(packed.buffer, packed.byteOffset).getFloat32(0, true);
      } else found.scalar = reader.float();
    } else if (field === 6) {
      if (type === WireType.LengthDelimited) {
        const packed = reader.bytes();
        if (packed.length >= 8)
          found.scalar = new DataView(packed.buffer, packed.byteOffset).getFloat64(0, true);
      } else found.scalar = reader.double();
    } else if (field === 8) strings.push(reader.bytes());
    else return false;
    return true;
  });
  if (content !== undefined && found.scalar === undefined) {
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    if (dtype === 1 && content.length >= 4) found.scalar = view.getFloat32(0, true);
    if (dtype === 2 && content.length >= 8) found.scalar = view.getFloat64(0, true);
  }
  // Width and height come first, then the pictures.
  const picture = strings[2];
  if (picture !== undefined) found.picture = picture;
  return found;
}

function readValue(bytes: Uint8Array): Value {
  const value: Value = { tag: '' };
  readFields(bytes, (field, reader, type) => {
    if (field === 1) value.tag = reader.string();
    else if (field === 2 && type === WireType.Bit32) value.scalar = reader.float();
    else if (field === 4)
      readFields(reader.bytes(), (inner, image) => {
        if (inner !== 4) return false;
        value.picture = image.bytes();
        return true;
      });
    else if (field === 8) Object.assign(value, readTensor(reader.bytes()));
    else return false;
    return true;
  });
  return value;
}

/** Return the media type of an encoded picture; undefined if it is none. */
function pictureType([first, second]: Uint8Array): string | undefined {
  if (first === 0x89 && second === 0x50) return 'image/png';
  if (first === 0xff && second === 0xd8) return 'image/jpeg';
  return first === 0x47 && second === 0x49 ? 'image/gif' : undefined;
}

/**
 * Read an event file of TensorBoard: records of an 8-byte length, a 4-byte checksum, an `Event` and a 4-byte
 * checksum. A last record that is cut off ends the reading.
 */
export function readEvents(bytes: Uint8Array<ArrayBuffer>): Events {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const scalars = new Map<string, Curve>();
  const pictures = new Map<string, EventPicture[]>();
  let at = 0;
  while (at + 12 <= bytes.length) {
    const length = Number(view.getBigUint64(at, true));
    const start = at + 12;
    if (start + length + 4 > bytes.length) break;
    at = start + length + 4;
    let [time, step] = [0, 0];
    const values: Value[] = [];
    readFields(bytes.subarray(start, start + length), (field, reader) => {
      if (field === 1) time = reader.double() * 1000;
      else if (field === 2) step = Number(reader.int64());
      else if (field === 5)
        readFields(reader.bytes(), (inner, summary) => {
          if (inner !== 1) return false;
          values.push(readValue(summary.bytes()));
          return true;
        });
      else return false;
      return true;
    });
    for (const { tag, scalar, picture } of values) {
      if (picture !== undefined) {
        const type = pictureType(picture);
        if (type === undefined) continue;
        const list = pictures.get(tag) ?? [];
        pictures.set(tag, list);
        list.push({ step, url: URL.createObjectURL(new Blob([picture.slice()], { type })) });
      } else if (scalar !== undefined) {
        const curve = scalars.get(tag) ?? { steps: [], times: [], values: [] };
        scalars.set(tag, curve);
        curve.steps.push(step);
        curve.times.push(time);
        curve.values.push(scalar);
      }
    }
  }
  return { scalars, pictures };
}
