import { expect, test } from 'vitest';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { scheduledProject } from './recorded-schedule.ts';

test('a schedule whose processes are killed at drawn writes fires each time once', async () => {
  const random = seededRandom(67);
  const project = await scheduledProject();
  const { schedule_id } = await project.make({ cron: '0 * * * *' });
  const { records } = project.service;
  const mortal = (): TableWriter<'records'> => {
    let writes = random() < 0.7 ? Math.floor(random() * 3) : Number.POSITIVE_INFINITY;
    const isAfter = random() < 0.5;
    return {
      ...records,
      async write(...all) {
        writes -= 1;
        if (writes < 0 && !isAfter) throw new Error('killed before the write');
        await records.write(...all);
        if (writes < 0) throw new Error('killed after the write');
      },
    };
  };
  const due: string[] = [];

  for (let time = 0; time < 12; time += 1) {
    due.push(await project.untilNext(schedule_id));
    for (let kill = 0; kill < 3; kill += 1)
      await Promise.allSettled([
        project.look({ repeats: true }, { writer: mortal() }),
        project.look({ repeats: true }, { writer: mortal() }),
      ]);
    await project.look();
    await project.end((await project.running())[0]);
    await project.look();
  }

  const { recent, starts } = await project.read(schedule_id);
  expect(recent.map(({ due_at }) => due_at)).toEqual(due.toReversed());
  expect(starts).toBe(due.length);
  expect(await project.experiments()).toHaveLength(due.length);
});

test('a schedule that hangs keeps no other from its time', async () => {
  const project = await scheduledProject();
  await project.make({ cron: '0 * * * *' });
  const { schedule_id } = await project.make({ cron: '0 * * * *' });
  await project.untilNext(schedule_id);
  const { records } = project.service;
  const goOn = Promise.withResolvers<void>();
  let writes = 0;
  const writer: TableWriter<'records'> = {
    ...records,
    async write(...all) {
      writes += 1;
      if (writes === 1) await goOn.promise;
      await records.write(...all);
    },
  };

  const looking = project.look({ repeats: true }, { writer });
  await expect.poll(project.running, { timeout: 60_000 }).toHaveLength(1);
  goOn.resolve();
  await looking;

  expect(await project.running()).toHaveLength(2);
});
