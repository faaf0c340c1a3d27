import { maskedCrc32c } from '../../../../shared/runner/metric-files/crc32c.ts';

/** A TFRecord of some bytes. */
export function recordOf(data: Buffer): Buffer {
  const record = Buffer.alloc(12 + data.length + 4);
  record.writeBigUInt64LE(BigInt(data.length), 0);
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8);
  data.copy(record, 12);
  record.writeUInt32LE(maskedCrc32c(data), 12 + data.length);
  return record;
}

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
};
export const delimited = (field: number, bytes: Buffer): Buffer =>
  Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
const text = (field: number, value: string): Buffer => delimited(field, Buffer.from(value));

/** An `Event` with one value of a summary. */
export function eventOf(step: number, value: Buffer, seconds = 1_764_000_000): Buffer {
  const time = Buffer.alloc(9, 0x09);
  time.writeDoubleLE(seconds, 1);
  return Buffer.concat([time, Buffer.from([0x10]), varint(step), delimited(5, delimited(1, value))]);
}

/** The event that a writer with `purge_step` begins with: a `SessionLog` of the status START. */
export function startOf(step: number): Buffer {
  return Buffer.concat([Buffer.from([0x10]), varint(step), delimited(7, Buffer.from([0x08, 1]))]);
}

/** A scalar as PyTorch writes it. */
export function scalarOf(tag: string, value: number): Buffer {
  const number = Buffer.alloc(5, 0x15);
  number.writeFloatLE(value, 1);
  return Buffer.concat([text(1, tag), number]);
}

/** A scalar as TensorFlow 2 writes it: a tensor, with metadata at its first step. */
export function tensorScalarOf(tag: string, value: number, plugin: string | undefined): Buffer {
  const content = Buffer.alloc(4);
  content.writeFloatLE(value);
  const tensor = Buffer.concat([Buffer.from([0x08, 1]), delimited(4, content)]);
  const metadata = plugin === undefined ? [] : [delimited(9, delimited(1, text(1, plugin)))];
  return Buffer.concat([text(1, tag), delimited(8, tensor), ...metadata]);
}

/** A picture as PyTorch writes it. */
export const pictureOf = (tag: string, file: Buffer): Buffer =>
  Buffer.concat([text(1, tag), delimited(4, delimited(4, file))]);

/** Pictures as TensorFlow 2 writes them: a tensor of width, height and the files. */
export function tensorPictureOf(tag: string, ...files: Buffer[]): Buffer {
  const strings = [Buffer.from('28'), Buffer.from('28'), ...files].map((one) => delimited(8, one));
  const tensor = Buffer.concat([Buffer.from([0x08, 7]), ...strings]);
  return Buffer.concat([text(1, tag), delimited(8, tensor), delimited(9, delimited(1, text(1, 'images')))]);
}

/** A sound as PyTorch writes it. */
export const soundOf = (tag: string, file: Buffer): Buffer =>
  Buffer.concat([text(1, tag), delimited(6, delimited(4, file))]);

/** A text as a tensor of a plugin. */
export const textOf = (tag: string, value: string, plugin: string): Buffer =>
  Buffer.concat([
    text(1, tag),
    delimited(8, Buffer.concat([Buffer.from([0x08, 7]), text(8, value)])),
    delimited(9, delimited(1, text(1, plugin))),
  ]);

/** An event with the graph of a model. */
export const graphOf = (): Buffer => delimited(4, Buffer.from('graph'));

const doubles = (field: number, values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeDoubleLE(value, 8 * index);
  return delimited(field, bytes);
};
const fixed = (field: number, value: number): Buffer => {
  const bytes = Buffer.alloc(9, field * 8 + 1);
  bytes.writeDoubleLE(value, 1);
  return bytes;
};

/** A histogram as PyTorch writes it: the least and the greatest value, the upper limits of the bins and their counts. */
export const histogramOf = (
  tag: string,
  { min, max, limits, counts }: { min: number; max: number; limits: number[]; counts: number[] },
): Buffer =>
  Buffer.concat([
    text(1, tag),
    delimited(5, Buffer.concat([fixed(1, min), fixed(2, max), doubles(6, limits), doubles(7, counts)])),
  ]);

/** A histogram as TensorFlow 2 writes it: a tensor of low, high and count of each bin. */
export const tensorHistogramOf = (
  tag: string,
  bins: readonly (readonly [number, number, number])[],
): Buffer =>
  Buffer.concat([
    text(1, tag),
    delimited(8, Buffer.concat([Buffer.from([0x08, 2]), doubles(4, bins.flat())])),
    delimited(9, delimited(1, text(1, 'histograms'))),
  ]);

/** The hyperparameters of a session, as `SummaryWriter.add_hparams` writes them. */
export function hparamsOf(params: Readonly<Record<string, number | string | boolean>>): Buffer {
  const entries = Object.entries(params).map(([name, value]) =>
    delimited(1, Buffer.concat([text(1, name), delimited(2, protobufValue(value))])),
  );
  const session = delimited(3, Buffer.concat(entries));
  const plugin = Buffer.concat([text(1, 'hparams'), delimited(2, session)]);
  return Buffer.concat([text(1, '_hparams_/session_start_info'), delimited(9, delimited(1, plugin))]);
}

/** A `google.protobuf.Value`. */
function protobufValue(value: number | string | boolean): Buffer {
  if (typeof value === 'string') return text(3, value);
  if (typeof value === 'boolean') return Buffer.from([0x20, Number(value)]);
  const number = Buffer.alloc(9, 0x11);
  number.writeDoubleLE(value, 1);
  return number;
}
