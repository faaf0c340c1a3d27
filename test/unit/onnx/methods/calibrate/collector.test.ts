import { describe, expect, test } from 'vitest';
import { EntropyCollector } from '../../../../../shared/onnx/methods/calibrate/collectors/entropy-collector.ts';
import { makeCollector } from '../../../../../shared/onnx/methods/calibrate/collectors/make-collector.ts';
import { PercentileCollector } from '../../../../../shared/onnx/methods/calibrate/collectors/percentile-collector.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

/** Four samples, each wider than the one before: bell-shaped, or cubed with long tails. */
function samples(isCubed: boolean): Float32Array[] {
  const random = seededRandom(11);
  return [0, 1, 2, 3].map((at) => {
    const bell = () => Math.fround(Math.fround(random() + random() + random() - 1.5) * (1 + 0.5 * at));
    const values = Float32Array.from({ length: 3000 }, bell);
    return isCubed ? values.map((value) => Math.fround(value * value) * value) : values;
  });
}

function rangeOf(collector: ReturnType<typeof makeCollector>, values: readonly Float32Array[]) {
  for (const sample of values) collector.add('a', sample);
  return collector.ranges().get('a');
}

// Ranges as HistogramCollector of onnxruntime.quantization 1.30 finds them for all samples at once.
describe('ranges are those of ONNX Runtime', () => {
  test('MinMax', () => {
    expect(rangeOf(makeCollector('static_minmax'), samples(false))).toEqual({
      min: -3.4291577339172363,
      max: 3.3806233406066895,
    });
  });

  test.each([
    [99.999, false, -3.427483320236206, 3.3806233406066895],
    [90, false, -1.5154062509536743, 1.5154062509536743],
    [99.999, true, -40.30419921875, 38.635841369628906],
    [90, true, -3.465333938598633, 3.465333938598633],
  ] as const)('Percentile %d (cubed: %s)', (percentile, isCubed, min, max) => {
    expect(rangeOf(new PercentileCollector({ percentile }), samples(isCubed))).toEqual({ min, max });
  });

  test.each([
    [128, -40.32388687133789, 38.63583755493164],
    [512, -20.949520111083984, 21.107032775878906],
    [1024, -20.949520111083984, 21.028278350830078],
  ] as const)('Entropy with %d bins', (bins, min, max) => {
    const range = rangeOf(new EntropyCollector({ bins }), samples(true));
    expect(range?.min).toBeCloseTo(min, 4);
    expect(range?.max).toBeCloseTo(max, 4);
  });
});

describe.each(['static_minmax', 'static_percentile', 'static_entropy'] as const)('%s', (strategy) => {
  test('knows nothing of what had no number', () => {
    const collector = makeCollector(strategy);
    collector.add('empty', new Float32Array());
    collector.add('nan', Float32Array.of(Number.NaN));
    collector.add('some', Float32Array.of(Number.NaN, 2, -1));
    expect([...collector.ranges().keys()]).toEqual(['some']);
  });

  test('tells the range of equal values, of zeros and of tiny values', () => {
    const collector = makeCollector(strategy);
    collector.add('equal', new Float32Array(9).fill(-3));
    collector.add('zeros', new Float32Array(9));
    collector.add('tiny', Float32Array.of(1e-42, -1e-42));
    const ranges = collector.ranges();
    expect(ranges.get('equal')).toEqual({ min: -3, max: -3 });
    expect(ranges.get('zeros')).toEqual({ min: 0, max: 0 });
    expect(ranges.get('tiny')?.max).toBeCloseTo(0, 30);
  });

  test('says so where a value is infinite', () => {
    const collector = makeCollector(strategy);
    collector.add('mask', Float32Array.of(Number.NEGATIVE_INFINITY, 1, 2));
    expect(collector.ranges().get('mask')?.min).toBe(Number.NEGATIVE_INFINITY);
  });
});
