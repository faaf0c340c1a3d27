import { beforeAll, describe, expect, test } from 'vitest';
import { RecentValues } from '../../../shared/data/table/recent-values.ts';
import { type TestService, testService } from '../../support/service.ts';

const key = { pk: 'RECENT#1', sk: 'A' };

describe('a value that a process has read a moment ago', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await testService();
  });

  const write = (value: number) =>
    service.records.write({ put: { ...key, record_type: 'test', schema_version: 0, value } });
  const counted = () => {
    const values = new RecentValues<unknown>();
    let reads = 0;
    const get = () =>
      values.get(service.records, 'a', [key.pk], async () => {
        reads += 1;
        return (await service.records.get(key))?.['value'];
      });
    return { get, reads: () => reads };
  };

  test('is read once by many who ask, and again after a write to its partition', async () => {
    const { get, reads } = counted();
    await write(1);

    expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
    expect(reads()).toBe(1);
    await write(2);
    expect(await get()).toBe(2);
    await service.records.write({
      put: { pk: 'RECENT#2', sk: 'A', record_type: 'test', schema_version: 0 },
    });
    await get();
    expect(reads()).toBe(2);
  });

  test('is never one of before a write that came while it was read', async () => {
    await write(3);
    const values = new RecentValues<unknown>();
    const old = values.get(service.records, 'a', [key.pk], async () => {
      const found = (await service.records.get(key))?.['value'];
      await write(4);
      return found;
    });

    expect(await old).toBe(3);
    expect(
      await values.get(
        service.records,
        'a',
        [key.pk],
        async () => (await service.records.get(key))?.['value'],
      ),
    ).toBe(4);
  });

  test('is read again where its read failed', async () => {
    const values = new RecentValues<number>();
    const failing = values.get(service.records, 'a', [key.pk], () => Promise.reject(new Error('away')));

    await expect(failing).rejects.toThrow('away');
    expect(await values.get(service.records, 'a', [key.pk], async () => 5)).toBe(5);
  });
});
