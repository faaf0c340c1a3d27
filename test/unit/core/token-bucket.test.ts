import { describe, expect, test } from 'vitest';
import { TokenBucket } from '../../../shared/core/rate-limit.ts';

describe('a token bucket', () => {
  test('gives as many as it holds at once, then says when the next one comes', () => {
    const bucket = new TokenBucket({ perSecond: 4, burst: 2 }, () => 0);
    expect([bucket.take(), bucket.take(), bucket.take(), bucket.take()]).toEqual([0, 0, 0.25, 0.25]);
  });

  test('fills by the rate, to its size and no further', () => {
    let now = 0;
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 }, () => now);
    const takeAll = () => {
      let taken = 0;
      while (bucket.take() === 0) taken += 1;
      return taken;
    };
    expect(takeAll()).toBe(5);
    now += 250;
    expect(takeAll()).toBe(2);
    now += 50;
    expect(takeAll()).toBe(1);
    now += 3_600_000;
    expect(takeAll()).toBe(5);
  });
});
