import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { dataTypes } from './data-type.ts';
import type { Tensor } from './tensor.ts';

/** Where a tensor's values lie outside the model's own file. */
export interface ExternalLocation {
  location: string;
  offset: number;
}

const entry = (key: string, value: string): Uint8Array =>
  new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(key)
    .tag(2, WireType.LengthDelimited)
    .string(value)
    .finish();

/**
 * The TensorProto of a tensor up to its values, which follow it where they are not external: so that values are never
 * copied to be written. Together they are `header.length + (external ? 0 : byteLength)` bytes.
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

/** The whole TensorProto of a small tensor, as attributes hold them. */
export function tensorMessage(tensor: Tensor): Uint8Array {
  const header = tensorHeader(tensor);
  if (tensor.verbatim !== undefined) return header;
  const message = new Uint8Array(header.length + tensor.byteLength);
  message.set(header);
  message.set(tensor.bytes(), header.length);
  return message;
}
