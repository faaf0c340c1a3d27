import { describe, expect, test } from 'vitest';
import { gridPoints, gridSize } from '../../../../shared/sweeps/sampling/grid.ts';
import { faultsOfConditions } from '../../../../shared/sweeps/spec/conditions.ts';
import type { Parameters, SweepParameter } from '../../../../shared/sweeps/spec/parameter.ts';
import fc, { runs } from '../../../support/seeded-fast-check.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const values = fc.integer({ min: 1, max: 3 }).map((size) => Array.from({ length: size }, (_, at) => at));
const condition = fc.dictionary(fc.constantFrom(...names), fc.subarray([0, 1, 2], { minLength: 1 }), {
  maxKeys: 3,
});
const parameter = fc.record({ values, if: condition }, { requiredKeys: ['values'] });

describe('the size of a grid', () => {
  test('is the number of its points', () => {
    const drawn = fc.dictionary(fc.constantFrom(...names), parameter, { minKeys: 1 });
    fc.assert(
      fc.property(drawn, (parameters) => {
        fc.pre(faultsOfConditions(parameters).length === 0);
        expect(gridSize(parameters, 10_000)).toBe([...gridPoints(parameters)].length);
      }),
      { numRuns: runs(200) },
    );
  });

  test('is counted without looking at a point', () => {
    const read: string[] = [];
    const choice = (name: string): SweepParameter => ({ values: [0, 1], if: { [name]: [0, 1] } });
    const chain = Object.fromEntries(
      Array.from({ length: 98 }, (_, at) => [`p${String(at + 1).padStart(3, '0')}`, at]).map(([name, at]) => {
        const one = { value: 1, if: { [`p${String(at).padStart(3, '0')}`]: at === 0 ? 3 : 1 } };
        return [name, new Proxy(one, { get: (of, key) => read.push(String(key)) && Reflect.get(of, key) })];
      }),
    );
    const parameters: Parameters = {
      p000: { values: Array.from({ length: 1000 }, (_, at) => at) },
      ...chain,
      last: choice('p000'),
    };

    expect(gridSize(parameters, 10_000)).toBe(1002);

    expect(read.length).toBeLessThan(30_000);
  });

  test('has a limit where conditions multiply', () => {
    const pairs = Object.fromEntries(
      Array.from({ length: 40 }, (_, at): [string, SweepParameter][] => [
        [`a${at}`, { values: [0, 1] }],
        [`b${at}`, { values: [0, 1], if: { [`a${at}`]: 1 } }],
      ]).flat(),
    );

    expect(gridSize(pairs, 1_000_000)).toBeUndefined();
    expect(
      gridSize({ a: { min: 0, max: 1e15, step: 1 }, b: { value: 1, if: { a: 3 } } }, 10),
    ).toBeUndefined();
  });
});
