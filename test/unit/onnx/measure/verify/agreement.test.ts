import { describe, expect, test } from 'vitest';
import { Agreement, classReading } from '../../../../../shared/onnx/measure/verify/agreement.ts';
import { exceedsShare } from '../../../../../shared/onnx/measure/verify/exceeds-share.ts';
import { pairedInterval } from '../../../../../shared/onnx/measure/verify/paired-interval.ts';
import { maxSpearman, spearman } from '../../../../../shared/onnx/measure/verify/spearman.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const floats = (dims: readonly number[], ...values: number[]) => ({
  ...({ type: 'float', dims } as const),
  values: Float32Array.from(values),
});
const outputs = (name: string, value: ReturnType<typeof floats>) => new Map([[name, value]]);

test('agreement counts the choices that are the same', () => {
  const first = outputs('y', floats([2, 3], 1, 2, 3, 9, 0, 0));
  const agreement = new Agreement(undefined, first);
  agreement.add(first, outputs('y', floats([2, 3], 1, 2, 4, 0, 9, 0)));
  agreement.add(first, first);
  expect(agreement.result()).toMatchObject({ kind: 'classes', share: 0.75, choices: 4, output: 'y' });
});

test('classes of tokens that the mask leaves out do not count', () => {
  const was = outputs('logits', floats([1, 3, 2], 1, 0, 1, 0, 1, 0));
  const is = outputs('logits', floats([1, 3, 2], 1, 0, 0, 1, 0, 1));
  const agreement = new Agreement(undefined, was);
  agreement.add(was, is, { type: 'int64', dims: [1, 3], values: BigInt64Array.of(1n, 1n, 0n) });
  expect(agreement.result()).toMatchObject({ share: 0.5, choices: 2 });
});

/** A unit vector of two numbers at an angle in degrees. */
const at = (degrees: number) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];

test('vectors agree on their nearest neighbour, and one that is as near counts', () => {
  // Pairs of neighbours, 4 degrees apart; each pair 40 degrees from the next.
  const angles = Array.from({ length: 16 }, (_, index) => 20 * (index - (index % 2)) + 4 * (index % 2));
  const moved = angles.map((angle, index) => (index === 0 ? angle + 180 : angle));
  const vectors = (list: number[]) => outputs('sentence_embedding', floats([16, 2], ...list.flatMap(at)));
  const agreement = new Agreement(undefined, vectors(angles));
  agreement.add(vectors(angles), vectors(moved));
  const { kind, share, choices, mean_cosine } = agreement.result() ?? {};
  expect({ kind, choices }).toEqual({ kind: 'neighbours', choices: 16 });
  // The first vector and its neighbour found others.
  expect(share).toBe(14 / 16);
  expect(mean_cosine).toBeCloseTo(14 / 16, 5);

  const alike = new Agreement(undefined, vectors(Array(16).fill(7)));
  alike.add(vectors(Array(16).fill(7)), vectors(angles));
  expect(alike.result()?.share).toBe(1);
});

describe('whether more is lost than a share, before all samples ran', () => {
  /** The vectors of 200 samples on a circle, pairs of neighbours 0.9 degrees apart. Those at 0 degrees would be a distribution. */
  const angles = Array.from(
    { length: 200 },
    (_, index) => 30 + 1.8 * (index - (index % 2)) + 0.9 * (index % 2),
  );
  const vector = (angle: number) => outputs('sentence_embedding', floats([1, 2], ...at(angle)));
  const all = angles.map(vector);

  /** Each vector of a pair far from its neighbour. */
  const astray = angles.map((angle, index) => angle + 90 * (1 + (index % 2)));

  /** At how many samples a result with the vectors at these angles is said to lose more than 1 %. */
  function endsAt(moved: readonly number[], known: typeof all | undefined) {
    const agreement = new Agreement(undefined, all[0], known);
    for (const [index, angle] of moved.entries()) {
      agreement.add(vector(angles[index] ?? 0), vector(angle));
      if (agreement.losesMore(0.01)) return { at: index + 1, result: agreement.result() };
    }
    return undefined;
  }

  test('is said of vectors most of which found other neighbours, and the result shows it', () => {
    const found = endsAt(astray, all);
    expect(found?.at).toBe(64);
    expect(found?.result).toMatchObject({ kind: 'neighbours', share: 0, choices: 64 });
  });

  test('is not said of vectors that lose each other, but whose neighbours come later', () => {
    const random = seededRandom(4);
    const half = Array.from({ length: 100 }, () => seededFloats(random, 32, 1));
    const noise = () => seededFloats(random, 32, 0.4);
    const wide = (values: Float32Array) => outputs('sentence_embedding', floats([1, 32], ...values));
    const was = [...half, ...half].map(wide);
    const agreement = new Agreement(undefined, was[0], was);
    const shares: (number | undefined)[] = [];
    for (const [index, values] of [...half, ...half].entries()) {
      const change = noise();
      agreement.add(was[index] ?? new Map(), wide(values.map((one, place) => one + (change[place] ?? 0))));
      expect(agreement.losesMore(0.01)).toBe(false);
      shares.push(agreement.result()?.share);
    }
    expect(shares[63]).toBeLessThan(0.8);
    expect(shares.at(-1)).toBe(1);
  });

  test('is not said where the vectors of all samples are not known', () => {
    expect(endsAt(astray, undefined)).toBeUndefined();
  });

  test('is said of scores in an order of their own', () => {
    const score = (value: number) => outputs('logits', floats([1, 1], value));
    const losesAt = (disorder: number) => {
      const agreement = new Agreement(undefined, score(0));
      for (let index = 0; index < 128; index += 1) {
        agreement.add(score(index), score(index + disorder * ((index * 37) % 64)));
        if (agreement.losesMore(0.05)) return index + 1;
      }
      return undefined;
    };
    expect(losesAt(0.1)).toBeUndefined();
    expect(losesAt(100)).toBeLessThanOrEqual(64);
  });

  test('keeps to the chance of a binomial distribution', () => {
    // scipy.stats.binom.sf(3, 32, 0.01) is 2.9e-4, and binom.sf(4, 32, 0.01) is 1.6e-5.
    expect(exceedsShare(4, 32, 0.01)).toBe(false);
    expect(exceedsShare(5, 32, 0.01)).toBe(true);
    expect(exceedsShare(4, 32, 0.01, 0.001)).toBe(true);
    expect(exceedsShare(1, 100, 0.01)).toBe(false);
    expect(maxSpearman(1, 32)).toBe(1);
    expect(maxSpearman(0.9, 64)).toBeCloseTo(Math.tanh(1.4722 + 3.72 * Math.sqrt(1.06 / 61)), 4);
  });
});

test('outputs that are no numbers agree on nothing', () => {
  const nothing = floats([16, 2], ...Array<number>(32).fill(Number.NaN));
  const spread = floats([16, 2], ...Array.from({ length: 16 }, (_, index) => at(20 * index)).flat());
  const share = (name: string, was: typeof nothing, is: typeof nothing) => {
    const agreement = new Agreement(undefined, outputs(name, spread));
    agreement.add(outputs(name, was), outputs(name, is));
    return agreement.result();
  };

  expect(share('embedding', nothing, nothing)).toMatchObject({ share: 0, mean_cosine: null });
  expect(share('embedding', spread, nothing)).toMatchObject({ share: 0 });
  expect(share('embedding', floats([16, 2], ...Array<number>(32).fill(Infinity)), spread)?.share).toBe(0);
  expect(share('logits', nothing, nothing)).toMatchObject({ kind: 'classes', share: 0 });
  expect(share('logits', spread, spread)).toMatchObject({ kind: 'classes', share: 1 });
});

test('many and wide vectors are compared up to a bound', () => {
  const large = (rows: number, width: number) => {
    const values = new Float32Array(rows * width).fill(1);
    return outputs('embedding', { type: 'float', dims: [rows, width], values });
  };
  const compared = (vectors: ReturnType<typeof large>) => {
    const agreement = new Agreement(undefined, vectors);
    agreement.add(vectors, vectors);
    agreement.add(vectors, vectors);
    return agreement.result()?.choices;
  };

  expect(compared(large(200_000, 2))).toBe(1_000);
  expect(compared(large(32, 2 ** 19))).toBe(16);
  expect(compared(large(16, 2 ** 20))).toBeUndefined();
});

test('vectors of tokens are joined by the mask', () => {
  const tokens = (...values: number[]) => outputs('last_hidden_state', floats([1, 2, 2], ...values));
  const agreement = new Agreement(undefined, tokens(1, 0, 5, 5));
  for (let angle = 0; angle < 320; angle += 20)
    agreement.add(tokens(...at(angle), 9, 9), tokens(...at(angle), -9, 4), {
      type: 'int64',
      dims: [1, 2],
      values: BigInt64Array.of(1n, 0n),
    });
  expect(agreement.result()).toMatchObject({ kind: 'neighbours', share: 1, choices: 16 });
  expect(agreement.result()?.mean_cosine).toBeCloseTo(1, 6);
});

test('single scores agree on their order, as scipy.stats.spearmanr has it', () => {
  expect(spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])).toBeCloseTo(0.8207826816681233, 12);
  expect(spearman([1, 2, 2, 9], [3, 1, 4, 4])).toBeCloseTo(0.5, 12);
  expect(spearman([1, 1], [2, 3])).toBeNaN();
  const scores = outputs('logits', floats([16, 1], ...Array.from({ length: 16 }, (_, index) => index)));
  const agreement = new Agreement(undefined, scores);
  agreement.add(scores, scores);
  expect(agreement.result()).toMatchObject({ kind: 'ranks', share: 1, choices: 16, output: 'logits' });
});

test('a model chooses in whole numbers, in distributions, in few scores and in outputs of that name', () => {
  const wide = (value: number) => floats([1, 64], ...Array.from({ length: 64 }, () => value));
  expect(classReading(outputs('y', floats([1, 3], 1, 2, 3)))).toEqual({ output: 'y', axis: 1 });
  expect(classReading(outputs('y', wide(1 / 64)))).toEqual({ output: 'y', axis: 1 });
  expect(classReading(outputs('logits', wide(3)))).toEqual({ output: 'logits', axis: 1 });
  const whole = { type: 'int64', dims: [1], values: BigInt64Array.of(4n) } as const;
  expect(classReading(new Map([['label', whole]]))).toEqual({ output: 'label', axis: null });
  // Classes of pixels lie before height and width.
  const pixels = floats([1, 2, 1, 2], 0.25, 0.5, 0.75, 0.5);
  expect(classReading(outputs('mask', pixels))).toEqual({ output: 'mask', axis: 1 });
});

test('an embedding and a single number choose nothing', () => {
  const embedding = floats([1, 128], ...Array.from({ length: 128 }, (_, at) => at));
  expect(classReading(outputs('embedding', embedding))).toBeUndefined();
  expect(classReading(outputs('y', floats([1, 1], 0.5)))).toBeUndefined();
  expect(new Agreement(undefined, outputs('y', floats([4], 1, 2, 3, 4))).result()).toBeNull();
});

test('the interval of a difference is that of the samples on which the models differ', () => {
  const one = (more: number) => ({ more, of: 1 });
  expect(pairedInterval(Array.from({ length: 50 }, () => one(0)))).toEqual([0, 0]);
  const [least, most] = pairedInterval([
    ...Array.from({ length: 90 }, () => one(0)),
    ...Array.from({ length: 10 }, () => one(-1)),
  ]);
  expect([least, most]).toEqual([expect.closeTo(-0.159, 3), expect.closeTo(-0.041, 3)]);
});
