import { expect, test } from 'vitest';
import { quantize, scalesOf } from '../../../../shared/onnx/quantize/quantized-values.ts';
import { seededFloats } from '../../../support/onnx/seeded.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const values = seededFloats(seededRandom(5), 24, 0.5);
const int8 = { type: 'int8', symmetric: true, reduced: false } as const;
const uint8 = { type: 'uint8', symmetric: false, reduced: false } as const;

// Levels as quantize_data of onnxruntime.quantization 1.30 gives them for the same values.
test('one scale for all values', () => {
  const signed = scalesOf(values, [24], undefined, int8);
  expect(signed?.scales).toEqual(Float32Array.of(0.0038281776942312717));
  expect([...(signed ? quantize(values, [24], signed).levels : [])]).toEqual([
    50, 71, -73, 32, -108, 24, 57, -11, 106, -71, 73, 63, 42, -127, -9, -52, 104, -55, 67, 58, -64, -126, 77,
    -76,
  ]);
  const unsigned = scalesOf(values, [24], undefined, uint8);
  expect(unsigned?.zeroPoints).toEqual(Uint8Array.of(139));
  expect([...(unsigned ? quantize(values, [24], unsigned).levels : [])]).toEqual([
    193, 217, 59, 174, 20, 165, 202, 127, 255, 62, 219, 208, 185, 0, 129, 82, 252, 78, 212, 203, 69, 1, 223,
    56,
  ]);
});

test.each([0, 1, 2])('scales along axis %d are those of each channel alone', (axis) => {
  const dims = [2, 3, 4];
  const by = scalesOf(values, dims, axis, int8);
  const levels = by ? quantize(values, dims, by).levels : [];
  const inner = dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  for (let channel = 0; channel < (dims[axis] ?? 0); channel += 1) {
    const places = [...values.keys()].filter((at) => Math.floor(at / inner) % (dims[axis] ?? 1) === channel);
    const own = values.filter((_, at) => places.includes(at));
    const alone = scalesOf(own, [own.length], undefined, int8);
    expect(by?.scales[channel]).toBe(alone?.scales[0]);
    expect(places.map((at) => levels[at])).toEqual([
      ...(alone ? quantize(own, [own.length], alone).levels : []),
    ]);
  }
});

test('the error is that of the values made float again', () => {
  const by = scalesOf(Float32Array.of(0, 1, 127), [3], undefined, int8);
  expect(by && quantize(Float32Array.of(0, 1.25, 127), [3], by)).toMatchObject({
    levels: Int8Array.of(0, 1, 127),
    error: Math.sqrt(0.25 ** 2 / (1.25 ** 2 + 127 ** 2)),
    nonzeroBefore: 2,
    nonzeroAfter: 2,
  });
});

test('values that no scale can hold have none', () => {
  expect(scalesOf(Float32Array.of(1, Number.NaN), [2], undefined, int8)).toBeUndefined();
  expect(scalesOf(Float32Array.of(1, Number.NEGATIVE_INFINITY), [2], undefined, int8)).toBeUndefined();
  expect(scalesOf(Float32Array.of(-3e38, 3e38), [2], undefined, uint8)).toBeUndefined();
});
