import { describe, expect, test } from 'vitest';
import { countNibble, nonzeroFloat16 } from '../../../../../shared/onnx/measure/verify/count-values.ts';
import { halfTensor } from '../../../../../shared/onnx/methods/quantize/half/half-tensor.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { sourceOf } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';

/** Float32 values of all magnitudes within half precision, of every bit pattern that decides a rounding, and ties. */
function values(): Float32Array {
  const bits = new Uint32Array(70_001);
  let state = 1;
  for (let at = 0; at < bits.length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // Exponents from far below the smallest half to 2^14; every third one is a tie between two halves, or next to it.
    const exponent = 90 + (state % 52);
    const mantissa =
      at % 3 === 0 ? ((state >>> 9) & ~0x1fff) | (0x1000 + ((state >>> 6) % 3) - 1) : state >>> 9;
    bits[at] = (((state >>> 5) & 1) << 31) | (exponent << 23) | (mantissa & 0x7fffff);
  }
  return new Float32Array(bits.buffer);
}

function converted(given: Float32Array, isMarker = false) {
  const report = new TransformReport();
  const layer = { layer: 'one', error: 0 } as never as NonNullable<Parameters<typeof halfTensor>[3]['layer']>;
  const tensor = makeTensor('w', 'float', [given.length], given);
  const bytes = halfTensor(tensor, 'h', report, { layer, isMarker }).bytes();
  return { halves: new Float16Array(bytes.slice().buffer), error: layer.error ?? Number.NaN, report };
}

describe('float32 values as halves', () => {
  test('are those of Float16Array, with their error', () => {
    const given = new Float32Array([...values(), 65504, -65504, 65503.9, 0, -0, 6e-8, 2.9e-8]);
    const wanted = new Float16Array(given);

    const { halves, error } = converted(given);

    expect(new Uint16Array(halves.buffer)).toEqual(new Uint16Array(wanted.buffer));
    const lost = given.reduce((sum, value, at) => sum + ((wanted[at] ?? 0) - value) ** 2, 0);
    const norm = given.reduce((sum, value) => sum + value ** 2, 0);
    expect(error).toBeCloseTo(Math.sqrt(lost / norm), 12);
  });

  test('are clamped beyond half precision, and stay infinite', () => {
    const given = new Float32Array([1, 65520, -1e30, Number.NEGATIVE_INFINITY]);

    const { halves, report } = converted(given);

    expect([...halves]).toEqual([1, 65504, -65504, Number.NEGATIVE_INFINITY]);
    expect(report.warnings).toEqual(['2 of 4 values of w were clamped to ±65504.']);
  });

  test('stay NaN', () => {
    expect([...converted(new Float32Array([Number.NaN, 2])).halves]).toEqual([Number.NaN, 2]);
  });
});

test('halves and halves of bytes are counted, whatever their number', () => {
  const halves = new Float16Array(300_007).map((_, at) => (at % 3 === 0 ? -0 : at % 3));
  const bytes = new Uint8Array(100_003).map((_, at) => at % 251);

  expect(nonzeroFloat16(sourceOf(halves))).toBe(halves.filter((value) => value !== 0).length);
  for (const nibble of [0, 8]) {
    const wanted = [...bytes].reduce(
      (sum, byte) => sum + Number((byte & 15) === nibble) + Number(byte >> 4 === nibble),
      0,
    );
    expect(countNibble(sourceOf(bytes), nibble)).toBe(wanted);
  }
});
