import { expect, test } from 'vitest';
import { isPlainName, trackedName } from '../../../../shared/mlflow/protocol/scalars.ts';
import fc from '../../../support/seeded-fast-check.ts';

const names = fc.string({ unit: fc.constantFrom('a', 'Z', '7', '_', '.', '/', '-', ':', ' ', 'ü', '<') });

test('the quick check of a name takes nothing that the rules refuse', () => {
  fc.assert(
    fc.property(names, (name) => {
      fc.pre(isPlainName(name));
      expect(trackedName.safeParse(name).success).toBe(true);
    }),
  );
});

test.each(['loss', 'val/loss', 'epoch_1.accuracy', 'top-5 error: val', 'n'.repeat(250)])(
  'the quick check takes %j',
  (name) => expect(isPlainName(name)).toBe(true),
);

test.each(['', '..', '../a', '/a', 'a//b', 'a/./b', 'a/', 'ü', 'a<b', 'n'.repeat(251)])(
  'the quick check leaves %j to the rules',
  (name) => expect(isPlainName(name)).toBe(false),
);
