import { describe, expect, test } from 'vitest';
import { HashingQueue } from '../../../shared/accounts/hashing-queue.ts';

/** Works that end when they are told to. */
function works() {
  const begun: number[] = [];
  const enders: (() => void)[] = [];
  const work = (id: number) => () => {
    begun.push(id);
    return new Promise<number>((resolve) => {
      enders[id] = () => resolve(id);
    });
  };
  return { begun, work, end: (id: number) => enders[id]?.() };
}

describe('password hashing', () => {
  test('is done a few at a time, first come first served', async () => {
    const queue = new HashingQueue({ atOnce: 2, maxAdmitted: 9 });
    const { begun, work, end } = works();
    const results = [0, 1, 2, 3].map((id) => queue.run(work(id)));
    expect(begun).toEqual([0, 1]);
    end(1);
    expect(await results[1]).toBe(1);
    expect(begun).toEqual([0, 1, 2]);
    end(0);
    end(2);
    await Promise.all([results[0], results[2]]);
    end(3);
    expect(await results[3]).toBe(3);
    const later = queue.run(work(4));
    end(4);
    expect(await later).toBe(4);
  });

  test('that fails gives its place to the next', async () => {
    const queue = new HashingQueue({ atOnce: 1, maxAdmitted: 9 });
    const failed = queue.run(() => Promise.reject(new Error('no memory')));
    const next = queue.run(async () => 'done');
    await expect(failed).rejects.toThrow('no memory');
    expect(await next).toBe('done');
  });

  test('admits so many who ask for it, and refuses others before they have begun', async () => {
    const queue = new HashingQueue({ atOnce: 1, maxAdmitted: 2 });
    const { begun, work, end } = works();
    const admitted = [0, 1].map((id) => queue.admit(work(id)));
    await expect(queue.admit(work(2))).rejects.toMatchObject({
      kind: 'unavailable',
      retryAfterSeconds: 2,
    });
    expect(begun).toEqual([0, 1]);
    end(0);
    await admitted[0];
    const next = queue.admit(work(3));
    end(1);
    end(3);
    expect(await next).toBe(3);
  });
});
