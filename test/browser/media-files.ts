import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { parquetWriteBuffer } from 'hyparquet-writer';
import sharp from 'sharp';
import { maskedCrc32c } from '../../shared/runner/metric-files/crc32c.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A picture that shows its number by its colours. */
export async function pictureOf(number: number, format: 'png' | 'webp' = 'png', side = 64): Promise<Bytes> {
  const pixels = Buffer.alloc(side * side * 3);
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) {
      const wave = Math.sin((x + number * 3) / 9) * Math.cos((y - number * 2) / 11);
      pixels.set([128 + 120 * wave, (number * 17) % 256, 128 - 100 * wave], (y * side + x) * 3);
    }
  const drawn = sharp(pixels, { raw: { width: side, height: side, channels: 3 } });
  return new Uint8Array(await (format === 'png' ? drawn.png() : drawn.webp()).toBuffer());
}

/** Twenty seconds of a tone as a WAV file: it still plays when a slow machine looks. */
export function toneOf(hertz: number): Bytes {
  const rate = 8_000;
  const length = 20 * rate;
  const samples = Int16Array.from({ length }, (_, index) =>
    Math.round(Math.sin((index / rate) * 2 * Math.PI * hertz) * 20_000 * (1 - index / length)),
  );
  const file = Buffer.alloc(44 + samples.byteLength);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + samples.byteLength, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  for (const [value, at] of [
    [1, 20],
    [1, 22],
    [2, 32],
    [16, 34],
  ] as const)
    file.writeUInt16LE(value, at);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * 2, 28);
  file.write('data', 36);
  file.writeUInt32LE(samples.byteLength, 40);
  Buffer.from(samples.buffer).copy(file, 44);
  return new Uint8Array(file);
}

/** A Parquet file with ids, names and scores. */
export const parquetOf = (rows: number): Bytes =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'id', data: Int32Array.from({ length: rows }, (_, index) => index), type: 'INT32' },
        {
          name: 'word',
          data: Array.from({ length: rows }, (_, index) => `word ${index % 7}`),
          type: 'STRING',
        },
        {
          name: 'score',
          data: Float64Array.from({ length: rows }, (_, index) => Math.sin(index)),
          type: 'DOUBLE',
        },
      ],
    }),
  );

const record = (event: Uint8Array): Buffer => {
  const framed = Buffer.alloc(event.length + 16);
  framed.writeBigUInt64LE(BigInt(event.length), 0);
  framed.writeUInt32LE(maskedCrc32c(framed.subarray(0, 8)), 8);
  framed.set(event, 12);
  framed.writeUInt32LE(maskedCrc32c(event), 12 + event.length);
  return framed;
};

/** An event file as TensorBoard's writers leave it: `add_scalar`, that of TensorFlow 2, and `add_image`. */
export async function eventsOf(steps: number, { hasMedia = true } = {}): Promise<Bytes> {
  const parts: Buffer[] = [];
  for (let step = 0; step < steps; step += 1) {
    const scalar = new BinaryWriter().tag(1, WireType.LengthDelimited).string('loss/train');
    scalar.tag(2, WireType.Bit32).float(1 / (step + 1));
    const tensor = new BinaryWriter().tag(1, WireType.Varint).int32(1);
    const content = Buffer.alloc(4);
    content.writeFloatLE(step / steps);
    tensor.tag(4, WireType.LengthDelimited).bytes(content);
    const second = new BinaryWriter().tag(1, WireType.LengthDelimited).string('accuracy');
    second.tag(8, WireType.LengthDelimited).bytes(tensor.finish());
    const plugin = new BinaryWriter().tag(1, WireType.LengthDelimited).string('scalars');
    const metadata = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(plugin.finish());
    second.tag(9, WireType.LengthDelimited).bytes(metadata.finish());
    const image = new BinaryWriter().tag(4, WireType.LengthDelimited).bytes(await pictureOf(step));
    const third = new BinaryWriter().tag(1, WireType.LengthDelimited).string('samples');
    third.tag(4, WireType.LengthDelimited).bytes(image.finish());
    const audio = new BinaryWriter().tag(4, WireType.LengthDelimited).bytes(toneOf(440));
    const fourth = new BinaryWriter().tag(1, WireType.LengthDelimited).string('voice');
    fourth.tag(6, WireType.LengthDelimited).bytes(audio.finish());
    const summary = new BinaryWriter();
    for (const value of [scalar, second, ...(hasMedia ? [third, fourth] : [])])
      summary.tag(1, WireType.LengthDelimited).bytes(value.finish());
    const event = new BinaryWriter().tag(1, WireType.Bit64).double(1_700_000_000 + step);
    event.tag(2, WireType.Varint).int64(step);
    event.tag(5, WireType.LengthDelimited).bytes(summary.finish());
    parts.push(record(event.finish()));
  }
  // A program that was killed leaves half a record.
  return new Uint8Array(Buffer.concat([...parts, Buffer.from([9, 0, 0, 0])]));
}
