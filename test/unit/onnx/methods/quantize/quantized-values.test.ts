import { expect, test } from 'vitest';
import { channelRanges, layoutOf } from '../../../../../shared/onnx/methods/quantize/channel-ranges.ts';
import {
  levelsOf,
  quantize,
  roundHalfEven,
  type Scales,
  scalesOf,
} from '../../../../../shared/onnx/methods/quantize/quantized-values.ts';
import { type ByteSource, sourceOf } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { elementCount } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const values = seededFloats(seededRandom(5), 24, 0.5);
const int8 = { type: 'int8', symmetric: true, reduced: false } as const;
const uint8 = { type: 'uint8', symmetric: false, reduced: false } as const;

// Levels as quantize_data of onnxruntime.quantization 1.30 gives them for the same values.
test('one scale for all values', () => {
  const signed = scalesOf(sourceOf(values), [24], undefined, int8);
  expect(signed?.scales).toEqual(Float32Array.of(0.0038281776942312717));
  expect([...(signed ? quantize(sourceOf(values), [24], signed).levels : [])]).toEqual([
    50, 71, -73, 32, -108, 24, 57, -11, 106, -71, 73, 63, 42, -127, -9, -52, 104, -55, 67, 58, -64, -126, 77,
    -76,
  ]);
  const unsigned = scalesOf(sourceOf(values), [24], undefined, uint8);
  expect(unsigned?.zeroPoints).toEqual(Uint8Array.of(139));
  expect([...(unsigned ? quantize(sourceOf(values), [24], unsigned).levels : [])]).toEqual([
    193, 217, 59, 174, 20, 165, 202, 127, 255, 62, 219, 208, 185, 0, 129, 82, 252, 78, 212, 203, 69, 1, 223,
    56,
  ]);
});

test.each([0, 1, 2])('scales along axis %d are those of each channel alone', (axis) => {
  const dims = [2, 3, 4];
  const by = scalesOf(sourceOf(values), dims, axis, int8);
  const levels = by ? quantize(sourceOf(values), dims, by).levels : [];
  const inner = dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  for (let channel = 0; channel < (dims[axis] ?? 0); channel += 1) {
    const places = [...values.keys()].filter((at) => Math.floor(at / inner) % (dims[axis] ?? 1) === channel);
    const own = values.filter((_, at) => places.includes(at));
    const alone = scalesOf(sourceOf(own), [own.length], undefined, int8);
    expect(by?.scales[channel]).toBe(alone?.scales[0]);
    expect(places.map((at) => levels[at])).toEqual([
      ...(alone ? quantize(sourceOf(own), [own.length], alone).levels : []),
    ]);
  }
});

test('the error is that of the values made float again', () => {
  const by = scalesOf(sourceOf(Float32Array.of(0, 1, 127)), [3], undefined, int8);
  expect(by && quantize(sourceOf(Float32Array.of(0, 1.25, 127)), [3], by)).toMatchObject({
    levels: Int8Array.of(0, 1, 127),
    error: Math.sqrt(0.25 ** 2 / (1.25 ** 2 + 127 ** 2)),
    nonzeroBefore: 2,
    nonzeroAfter: 2,
  });
});

test('values that no scale can hold have none', () => {
  expect(scalesOf(sourceOf(Float32Array.of(1, Number.NaN)), [2], undefined, int8)).toBeUndefined();
  expect(
    scalesOf(sourceOf(Float32Array.of(1, Number.NEGATIVE_INFINITY)), [2], undefined, int8),
  ).toBeUndefined();
  expect(scalesOf(sourceOf(Float32Array.of(-3e38, 3e38)), [2], undefined, uint8)).toBeUndefined();
});

/** The same values at an address that is no multiple of four. */
function crooked(values: Float32Array): ByteSource {
  const room = new Uint8Array(values.byteLength + 1);
  room.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), 1);
  return sourceOf(room.subarray(1));
}

/** What each value becomes, one after the other, in double precision. */
function oneByOne(all: Float32Array, dims: readonly number[], { type, axis, scales, zeroPoints }: Scales) {
  const { channels, inner } = layoutOf(dims, axis);
  const [least, most] = levelsOf(type);
  const summed = { squares: 0, lost: 0, nonzeroBefore: 0, nonzeroAfter: 0 };
  const levels = Array.from(all, (value, at) => {
    const channel = Math.floor(at / inner) % channels;
    const [scale, zeroPoint] = [scales[channel] ?? 1, zeroPoints[channel] ?? 0];
    const rounded = roundHalfEven(Math.fround(value / scale)) + zeroPoint;
    const level = Math.min(Math.max(rounded, least), most);
    summed.squares += value ** 2;
    summed.lost += (value - scale * (level - zeroPoint)) ** 2;
    summed.nonzeroBefore += Number(value !== 0);
    summed.nonzeroAfter += Number(level !== zeroPoint);
    return level;
  });
  return { levels, ...summed };
}

// Rows and runs that fill the kernels' room exactly, partly and more than once, and those that are no whole quads.
test.each([
  { dims: [1], axis: undefined },
  { dims: [131_075], axis: undefined },
  { dims: [7, 5], axis: 0 },
  { dims: [7, 5], axis: 1 },
  { dims: [3, 20_001], axis: 1 },
  { dims: [2, 40_003], axis: 0 },
  { dims: [700, 384], axis: 1 },
  { dims: [30_001, 3], axis: 1 },
  { dims: [30_001, 3], axis: 0 },
  { dims: [9, 130, 17], axis: 1 },
  { dims: [16_384, 4], axis: 1 },
  { dims: [1, 16_384, 4], axis: 1 },
  { dims: [5, 1], axis: 0 },
])(
  'values of $dims along axis $axis become what each by itself would, wherever they lie',
  ({ dims, axis }) => {
    const random = seededRandom(elementCount(dims));
    const all = seededFloats(random, elementCount(dims), 0.5);
    const odd = [0, -0, 1e-45, -1e-40, 4.7, -5.1];
    for (const [index, value] of odd.entries()) all[Math.floor(random() * all.length)] = value * (index + 1);
    for (const mapping of [int8, uint8]) {
      const { least, most, isFinite: areFinite } = channelRanges(crooked(all), layoutOf(dims, axis));
      const { channels, inner } = layoutOf(dims, axis);
      const [lowest, highest] = [new Float32Array(channels), new Float32Array(channels)];
      for (const [at, value] of all.entries()) {
        const channel = Math.floor(at / inner) % channels;
        lowest[channel] = Math.min(lowest[channel] ?? 0, value);
        highest[channel] = Math.max(highest[channel] ?? 0, value);
      }
      expect(areFinite).toBe(true);
      // Zero of either sign is the same end of a range.
      expect(least.every((value, channel) => value === lowest[channel])).toBe(true);
      expect(most.every((value, channel) => value === highest[channel])).toBe(true);
      const by = scalesOf(crooked(all), dims, axis, mapping);
      if (by === undefined) throw new Error('no scale holds these values');
      // Narrower ones, so that some values are clipped.
      const narrow = { ...by, scales: by.scales.map((scale) => scale / 3) };
      for (const scales of [by, narrow]) {
        const found = quantize(crooked(all), dims, scales);
        const expected = oneByOne(all, dims, scales);
        expect(Buffer.from(found.levels).equals(Buffer.from(expected.levels))).toBe(true);
        expect(found).toMatchObject({
          nonzeroBefore: expected.nonzeroBefore,
          nonzeroAfter: expected.nonzeroAfter,
        });
        expect(found.error).toBeCloseTo(Math.sqrt(expected.lost / expected.squares), 10);
      }
    }
  },
);

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  '%d is found wherever it stands',
  (value) => {
    for (const dims of [[11], [3, 5], [2, 20_001], [3, 4, 7]]) {
      const count = elementCount(dims);
      for (const axis of [undefined, 0, dims.length - 1]) {
        for (const at of [0, 1, Math.floor(count / 2), count - 1]) {
          const all = seededFloats(seededRandom(7), count, 0.5);
          all[at] = value;
          expect(channelRanges(sourceOf(all), layoutOf(dims, axis)).isFinite).toBe(false);
        }
      }
    }
  },
);
