import { beforeAll, describe, expect, test } from 'vitest';
import { beginAttempt } from '../../../shared/accounts/back-off.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import type { Write } from '../../../shared/data/table/table.ts';
import { type TestService, testService } from '../../support/service.ts';

const start = Date.parse('2030-01-01T00:00:00Z');

describe('back-off of failed sign-ins', () => {
  let service: TestService;
  let clock = start;
  beforeAll(async () => {
    service = await testService();
  });

  const attempt = (username: string, sourceIp: string) =>
    beginAttempt(service.accounts, { username, sourceIp }, new Date(clock));

  /** Seconds to wait before the next attempt, by the answer to one. */
  async function wait(username: string, sourceIp: string): Promise<number> {
    try {
      await attempt(username, sourceIp);
      return 0;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'too-many-requests') throw error;
      return error.retryAfterSeconds ?? 0;
    }
  }

  test('takes five at once, then doubles the wait up to a quarter of an hour, and forgets after a day', async () => {
    for (let n = 0; n < 5; n += 1) expect(await wait('ada', '203.0.113.1')).toBe(0);
    const waits: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      expect(await wait('ada', '203.0.113.1')).toBe(0);
      const seconds = await wait('ada', '203.0.113.1');
      waits.push(seconds);
      clock += seconds * 1000;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    clock += 24 * 60 * 60 * 1000;
    for (let n = 0; n < 5; n += 1) expect(await wait('ada', '203.0.113.1')).toBe(0);
  });

  test('waits no longer though the clock is set back an hour meanwhile', async () => {
    for (let n = 0; n < 6; n += 1) await attempt('lise', '203.0.113.77');
    expect(await wait('lise', '203.0.113.77')).toBe(1);
    clock -= 60 * 60 * 1000;
    expect(await wait('lise', '203.0.113.77')).toBe(0);
    expect(await wait('lise', '203.0.113.77')).toBe(2);
    clock += 60 * 60 * 1000;
    expect(await wait('lise', '203.0.113.77')).toBe(0);
  });

  test('a success forgets the failures at this user', async () => {
    for (let n = 0; n < 4; n += 1) await attempt('grace', '203.0.113.2');
    const last = await attempt('grace', '203.0.113.2');
    await last.succeeded();
    for (let n = 0; n < 5; n += 1) expect(await wait('grace', '203.0.113.2')).toBe(0);
  });

  test('nobody waits for what came from elsewhere', async () => {
    for (let n = 0; n < 6; n += 1) await attempt('mary', '203.0.113.3');
    expect(await wait('mary', '203.0.113.3')).toBeGreaterThan(0);
    expect(await wait('mary', '203.0.113.4')).toBe(0);
  });

  test('one address may not try many users for long', async () => {
    for (let n = 0; n < 51; n += 1) expect(await wait(`user-${n}`, '2001:db8::1')).toBe(0);
    expect(await wait('someone', '2001:db8::2')).toBe(1);
    expect(await wait('someone', '2001:db8:0:1::2')).toBe(0);
  });

  test('attempts at the same moment count, too', async () => {
    const waits = await Promise.all(Array.from({ length: 20 }, () => wait('joan', '203.0.113.5')));
    expect(waits.filter((seconds) => seconds === 0).length).toBeLessThanOrEqual(6);
  });
  test('thirty people behind one address sign in at the same moment', async () => {
    const people = Array.from({ length: 30 }, (_, n) => `person-${n}`);
    const waits = await Promise.all(people.map((person) => wait(person, '203.0.113.6')));
    expect(waits).toEqual(people.map(() => 0));
  });

  test('a first success takes back its own attempt at the address, never another one', async () => {
    for (let n = 0; n < 60; n += 1) {
      const taken = await attempt(`steady-${n}`, '203.0.113.8');
      await taken.succeeded();
    }
    for (let n = 0; n < 50; n += 1) expect(await wait(`guess-${n}`, '203.0.113.8')).toBe(0);
    const taken = await attempt('newcomer', '203.0.113.8');
    expect(await wait('somebody', '203.0.113.8')).toBe(1);
    await taken.succeeded();
    expect(await wait('somebody', '203.0.113.8')).toBe(0);
    expect(await wait('somebody', '203.0.113.8')).toBe(1);
  });

  test('what strangers do at an address does not hold up who signed in from there, for 90 days', async () => {
    const first = await attempt('emmy', '203.0.113.20');
    await first.succeeded();
    for (let n = 0; n < 51; n += 1) await attempt(`invented-${n}`, '203.0.113.20');
    expect(await wait('newcomer', '203.0.113.20')).toBe(1);
    for (let n = 0; n < 6; n += 1) {
      const taken = await attempt('emmy', '203.0.113.20');
      await taken.succeeded();
    }
    const token = { username: 'newcomer', sourceIp: '203.0.113.20', hasToken: true };
    await beginAttempt(service.accounts, token, new Date(clock));
    clock += 91 * 24 * 60 * 60 * 1000;
    for (let n = 0; n < 51; n += 1) await attempt(`invented-${n}`, '203.0.113.20');
    expect(await wait('emmy', '203.0.113.20')).toBe(1);
  });

  test('many addresses at one user are bounded, the owner from where they signed in before is not', async () => {
    const home = await attempt('vera', '203.0.113.30');
    await home.succeeded();
    for (let n = 0; n < 101; n += 1) expect(await wait('vera', `198.51.${n >> 8}.${n & 255}`)).toBe(0);
    const waits: number[] = [];
    for (let n = 0; n < 9; n += 1) {
      const seconds = await wait('vera', `192.0.2.${n}`);
      waits.push(seconds);
      clock += seconds * 1000;
      expect(await wait('vera', `192.0.2.${n}`)).toBe(0);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    for (let n = 0; n < 5; n += 1) expect(await wait('vera', '203.0.113.30')).toBe(0);
    const token = { username: 'vera', sourceIp: '192.0.2.77', hasToken: true };
    await expect(beginAttempt(service.accounts, token, new Date(clock))).rejects.toThrow(/60 seconds/);
  });

  test('an attempt that has to wait writes nothing', async () => {
    for (let n = 0; n < 6; n += 1) await attempt('ida', '203.0.113.40');
    let writes = 0;
    const counting = {
      ...service.accounts,
      write: (...all: readonly Write[]) => {
        writes += 1;
        return service.accounts.write(...all);
      },
    };
    const source = { username: 'ida', sourceIp: '203.0.113.40' };
    await expect(beginAttempt(counting, source, new Date(clock))).rejects.toThrow(ServiceError);
    expect(writes).toBe(0);
  });

  test('clocks that differ a little refuse nobody', async () => {
    const ahead = await attempt('hedy', '203.0.113.9');
    clock -= 50;
    expect(await wait('katherine', '203.0.113.9')).toBe(0);
    await ahead.succeeded();
    expect(await wait('hedy', '203.0.113.9')).toBe(0);
    clock += 50;
  });
});
