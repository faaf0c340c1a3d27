import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../proofs/simulate/virtual-clock.ts';

test('time stands still while reads are gathered and files are read, one after the other', async () => {
  const clock = new VirtualClock();
  const began = clock.now;
  const limit = clock.sleep(29_000).then(() => clock.now);
  const work = (async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      await setImmediate();
      await setImmediate();
      await readFile(import.meta.filename);
    }
    return clock.now;
  })();
  await clock.runUntil(began + 30_000);
  expect(await work).toBe(began);
  expect(await limit).toBe(began + 29_000);
});
