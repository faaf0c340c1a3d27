import { expect, test } from 'vitest';
import { endpoint as deleteSchedule } from '../../../functions/projects/schedules/delete-schedule.endpoint.ts';
import { endpoint as runSchedule } from '../../../functions/projects/schedules/run-schedule.endpoint.ts';
import { endpoint as updateSchedule } from '../../../functions/projects/schedules/update-schedule.endpoint.ts';
import { scheduleConfigsPartition } from '../../../shared/data/schedules/schedule.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { json } from '../users/body.ts';
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

/** Look at the times that have come; before the first write a person does something. */
async function lookWhile(project: Awaited<ReturnType<typeof scheduledProject>>, act: () => Promise<unknown>) {
  const { records } = project.service;
  let isFirst = true;
  const writer: TableWriter<'records'> = {
    ...records,
    async write(...all) {
      if (isFirst) {
        isFirst = false;
        await act();
      }
      await records.write(...all);
    },
  };
  await project.look({ repeats: true }, { writer });
}

test('a schedule that is deleted at the moment of firing begins nothing', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  await project.untilNext(schedule_id);

  await lookWhile(project, () => project.call(deleteSchedule, schedule_id));

  expect(await project.experiments()).toEqual([]);
});

test('a schedule that is renamed at the moment of firing begins one run, and keeps its new name', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  await project.untilNext(schedule_id);

  await lookWhile(project, () => project.call(updateSchedule, schedule_id, json({ name: 'weekly' })));

  expect(await project.read(schedule_id)).toMatchObject({ name: 'weekly', starts: 1 });
  expect(await project.experiments()).toHaveLength(1);
});

test('a request that reads a schedule which is deleted meanwhile is 404', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  const config = { pk: scheduleConfigsPartition(project.project_id), sk: schedule_id };
  await project.service.records.write({ delete: config });

  const { status } = await project.call(runSchedule, schedule_id);

  expect(status).toBe(404);
});

test('a command of a megabyte is refused', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();

  const { status } = await project.call(
    updateSchedule,
    schedule_id,
    json({ command: 'x'.repeat(1_000_000) }),
  );

  expect(status).toBe(413);
});
