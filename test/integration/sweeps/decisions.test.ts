import { expect, test } from 'vitest';
import { endpoint as deleteSweep } from '../../../functions/projects/sweeps/delete-sweep.endpoint.ts';
import { endpoint as readSweep } from '../../../functions/projects/sweeps/read-sweep.endpoint.ts';
import { endpoint as updateSweep } from '../../../functions/projects/sweeps/update-sweep.endpoint.ts';
import { listTurns } from '../../../shared/data/sweeps/sweep-turn.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { takeAllTurns, takeTurnAfter } from '../../../shared/sweeps/trials/take-turns.ts';
import { json } from '../users/body.ts';
import { recordedSweep } from './recorded-sweep.ts';

const parameters = { lr: { min: 0.001, max: 1, scale: 'log' } };

test('a decision takes at most three transactions, and leaves nothing to do', async () => {
  const swept = await recordedSweep({ method: 'tpe', trials: 8, parallel: 3, repeats: 2, parameters });
  const { records } = swept.service;
  const writes: number[] = [];

  for (let one = (await swept.running())[0]; one !== undefined; one = (await swept.running())[0]) {
    await swept.end(one, 1);
    let count = 0;
    const counted: TableWriter<'records'> = {
      ...records,
      write(...all) {
        count += 1;
        return records.write(...all);
      },
    };
    await takeTurnAfter(swept.context(counted), one.experiment_id);
    writes.push(count);
    expect((await listTurns(records, undefined)).items).toEqual([]);
  }

  expect(await swept.read()).toMatchObject({ status: 'COMPLETED', counts: { complete: 16 } });
  expect(writes).toHaveLength(16);
  expect(Math.max(...writes)).toBeLessThanOrEqual(3);
});

test('a decision reads no run again that is complete', async () => {
  const swept = await recordedSweep({ method: 'tpe', trials: 20, parallel: 2, parameters });
  const { records } = swept.service;
  const reads: number[] = [];

  for (let one = (await swept.running())[0]; one !== undefined; one = (await swept.running())[0]) {
    await swept.end(one, 1);
    let rows = 0;
    const counted: TableWriter<'records'> = {
      ...records,
      async batchGet(keys) {
        rows += keys.filter(({ sk }) => sk.includes('#RUN#')).length;
        return records.batchGet(keys);
      },
      async query(of) {
        const page = await records.query(of);
        rows += page.items.filter(({ sk }) => sk.includes('#RUN#')).length;
        return page;
      },
    };
    await takeTurnAfter(swept.context(counted), one.experiment_id);
    reads.push(rows);
  }

  // The one that has ended, the next one with the first repeat of its trial, and those that run.
  expect(Math.max(...reads)).toBeLessThanOrEqual(6);
});

test('two clients that extend a sweep at once both do, or one is refused by the version that it read', async () => {
  const swept = await recordedSweep({ method: 'random', trials: 4, parallel: 2, parameters });
  const { service, path, as } = swept;
  const extend = (change: object, headers: object = {}) => {
    const sent = json(change);
    return service.call(updateSweep, { path, as, ...sent, headers: { ...sent.headers, ...headers } });
  };

  const [longer, wider] = await Promise.all([
    extend({ trials: 9 }),
    extend({ parallel: 3, parameters: { lr: { min: 0.0001, max: 1, scale: 'log' } } }),
  ]);
  const { headers } = await service.call(readSweep, { path, as });
  const met = await Promise.all(
    [10, 11].map((trials) => extend({ trials }, { 'If-Match': headers['etag'] })),
  );
  const after = await service.call(readSweep, { path, as });

  expect([longer.status, wider.status]).toEqual([200, 200]);
  expect(met.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect(after.json).toMatchObject({
    trials: met[0]?.status === 200 ? 10 : 11,
    parallel: 3,
    parameters: { lr: { min: 0.0001 } },
    counts: { begun: 3, running: 3 },
  });
});

test('a sweep that is deleted while it decides begins nothing more, and is gone', async () => {
  const swept = await recordedSweep({ method: 'random', trials: 12, parallel: 3, parameters });
  const { service, path, as } = swept;
  const decide = () => takeAllTurns(swept.context(), () => true);
  for (const one of await swept.running()) await swept.end(one, 1);

  const [deleted] = await Promise.all([
    service.call(deleteSweep, { path, as, query: { experiments: 'true' } }),
    decide(),
    decide(),
  ]);
  await expect
    .poll(async () => {
      await decide();
      return (await service.call(readSweep, { path, as })).status;
    })
    .toBe(404);

  expect(deleted.status, deleted.text).toBe(200);
  expect(await swept.experiments()).toEqual([]);
  expect((await listTurns(service.records, undefined)).items).toEqual([]);
});
