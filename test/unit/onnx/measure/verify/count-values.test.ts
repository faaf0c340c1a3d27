import { expect, test } from 'vitest';
import { countByte, nonzeroFloat32 } from '../../../../../shared/onnx/measure/verify/count-values.ts';
import { type ByteSource, sourceOf } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

/** The same bytes at an address that is no multiple of four, if it is asked for. */
function placed(bytes: Uint8Array, offset: number): ByteSource {
  const room = new Uint8Array(bytes.length + offset);
  room.set(bytes, offset);
  return sourceOf(room.subarray(offset));
}

// Around whole words, and beyond one part of those that are copied.
const lengths = [0, 1, 3, 4, 5, 8, 31, 2 ** 18 + 7];

test.each([0, 1, 2, 3])('bytes are counted one by one, at an offset of %d', (offset) => {
  const random = seededRandom(offset + 1);
  for (const length of lengths) {
    // Few values, so that equal ones stand side by side, and those that differ in one bit.
    const values = [0, 1, 0x7f, 0x80, 0x81, 0xff];
    const bytes = Uint8Array.from({ length }, () => values[Math.floor(random() * values.length)] ?? 0);
    for (const wanted of values) {
      const expected = bytes.filter((byte) => byte === wanted).length;
      expect(countByte(placed(bytes, offset), wanted)).toBe(expected);
    }
  }
});

test.each([0, 1, 2, 3])('zero of either sign is none, at an offset of %d', (offset) => {
  const random = seededRandom(offset + 5);
  const some = [0, -0, 1, -1, 1e-45, Number.NaN, Number.POSITIVE_INFINITY];
  for (const length of lengths) {
    for (const share of [0.02, 0.9]) {
      const draw = () => (random() < share ? (some[Math.floor(random() * some.length)] ?? 0) : 1);
      const values = Float32Array.from({ length }, draw);
      const expected = values.filter((value) => value !== 0).length;
      expect(nonzeroFloat32(placed(new Uint8Array(values.buffer), offset))).toBe(expected);
    }
  }
});
