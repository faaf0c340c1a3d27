import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { readAgain, retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { ConditionFailedError, WriteLabel } from '../../../shared/data/table/write-label.ts';

const conflict = () => new ConditionFailedError();

/** An attempt that meets so many conflicts, and the numbers with which it was called. */
function contended(conflicts: number, failure: () => Promise<typeof readAgain>) {
  const numbers: number[] = [];
  const attempt = (number: number): Promise<string | typeof readAgain> => {
    numbers.push(number);
    return number <= conflicts ? failure() : Promise.resolve('changed');
  };
  return { attempt, numbers };
}

const refuse = () => Promise.reject(conflict());

let pauses: number[];

/** A pause that is over at once, and noted. */
const pause = <T>(milliseconds = 0, value?: T): Promise<T> => {
  pauses.push(milliseconds);
  return Promise.resolve(value as T);
};

beforeEach(() => {
  pauses = [];
  vi.spyOn(timers, 'setTimeout').mockImplementation(pause);
  syncBuiltinESMExports();
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe('retryOnConflict', () => {
  test('returns what the first attempt returns, without a pause', async () => {
    const { attempt, numbers } = contended(0, refuse);
    await expect(retryOnConflict(attempt)).resolves.toBe('changed');
    expect(numbers).toEqual([1]);
    expect(pauses).toEqual([]);
  });

  test.each([
    ['a condition fails', refuse],
    ['its reads were out of date', () => Promise.resolve(readAgain)],
  ])('makes an attempt again when %s, with growing pauses of full jitter', async (_, failure) => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { attempt, numbers } = contended(9, failure);
    await expect(retryOnConflict(attempt)).resolves.toBe('changed');
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(pauses).toEqual([5, 10, 20, 40, 80, 100, 100, 100, 100]);
  });

  test('gives up after ten attempts, with the last conflict as the cause', async () => {
    const { attempt, numbers } = contended(Number.POSITIVE_INFINITY, refuse);
    const error: unknown = await retryOnConflict(attempt).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      kind: 'conflict',
      message: 'Other requests are changing this at the same time. Try again.',
      cause: expect.any(ConditionFailedError),
    });
    expect(numbers).toHaveLength(10);
  });

  test('gives up as the caller says', async () => {
    const { attempt, numbers } = contended(Number.POSITIVE_INFINITY, refuse);
    await expect(retryOnConflict(attempt, { giveUp: () => 'given up' })).resolves.toBe('given up');
    expect(numbers).toHaveLength(10);
  });

  test('throws what is no conflict at once', async () => {
    const list = new WriteLabel('list');
    const isConflict = (error: ConditionFailedError) => error.isOnly(list);
    const other = contended(1, refuse);
    await expect(retryOnConflict(other.attempt, { isConflict })).rejects.toThrow(ConditionFailedError);
    const outage = contended(1, () => Promise.reject(new Error('out')));
    await expect(retryOnConflict(outage.attempt)).rejects.toThrow('out');
    expect([...other.numbers, ...outage.numbers]).toEqual([1, 1]);
    const ofList = contended(1, () => Promise.reject(new ConditionFailedError([list])));
    await expect(retryOnConflict(ofList.attempt, { isConflict })).resolves.toBe('changed');
  });
});
