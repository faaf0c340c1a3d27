import { expect, test } from 'vitest';
import { Agreement, classReading } from '../../../../../shared/onnx/measure/verify/agreement.ts';
import { pairedInterval } from '../../../../../shared/onnx/measure/verify/paired-interval.ts';

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
  expect(agreement.result()).toEqual({ share: 0.75, choices: 4, output: 'y' });
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
