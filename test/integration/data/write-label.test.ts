import { expect, test } from 'vitest';
import { ConditionFailedError, WriteLabel } from '../../../shared/data/table/write-label.ts';
import { testService } from '../../support/service.ts';

test('a transaction that fails names the labels of the writes whose conditions failed, and no others', async () => {
  const { records } = await testService();
  const [taken, free, absent] = ['taken', 'free', 'absent'].map((name) => new WriteLabel(name));
  if (!taken || !free || !absent) throw new Error('three labels');
  await records.write({ put: { pk: 'LABELS', sk: 'taken' } });
  const error = await records
    .write(
      free.on({ put: { pk: 'LABELS', sk: 'free' }, if: { exists: false } }),
      taken.on({ put: { pk: 'LABELS', sk: 'taken' }, if: { exists: false } }),
      absent.on({ check: { pk: 'LABELS', sk: 'absent' }, if: { exists: true } }),
    )
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConditionFailedError);
  expect([taken, free, absent].map((label) => label.failedIn(error))).toEqual([true, false, true]);
  expect(String(error)).toContain('taken, absent');
  expect(await records.get({ pk: 'LABELS', sk: 'free' })).toBeUndefined();
});

test('a write without a label is not taken for a labelled one', () => {
  const label = new WriteLabel('limit');
  const error = new ConditionFailedError([label, undefined]);
  expect(label.failedIn(error)).toBe(true);
  expect(error.isOnly(label)).toBe(false);
  expect(new ConditionFailedError([label]).isOnly(label)).toBe(true);
  expect(label.failedIn(new Error('another'))).toBe(false);
});
