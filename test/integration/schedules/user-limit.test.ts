import { expect, test } from 'vitest';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as createSchedule } from '../../../functions/projects/schedules/create-schedule.endpoint.ts';
import { endpoint as deleteSchedule } from '../../../functions/projects/schedules/delete-schedule.endpoint.ts';
import { endpoint as pauseSchedule } from '../../../functions/projects/schedules/pause-schedule.endpoint.ts';
import { endpoint as resumeSchedule } from '../../../functions/projects/schedules/resume-schedule.endpoint.ts';
import { endpoint as updateSchedule } from '../../../functions/projects/schedules/update-schedule.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { countActive } from '../../../shared/data/schedules/active-schedules.ts';
import { putSchedule } from '../../../shared/data/schedules/schedule.ts';
import { trainableProject } from '../projects/trainable-project.ts';
import { json } from '../users/body.ts';
import { scheduledProject } from './recorded-schedule.ts';

const full = 'You have the maximum of 100 active schedules in all projects. Pause or delete one first.';

/** A project, and a second one of its owner who has 98 active schedules in the first. */
async function almostFull() {
  const project = await scheduledProject();
  const { service, as } = project;
  const second = await trainableProject(service, as);
  const { schedule_id } = await project.make();
  const first = await project.read(schedule_id);
  for (let made = 1; made < 98; made += 1) {
    const copy = { ...first, schedule_id: newId() };
    await service.records.write(...putSchedule(copy), await countActive(service.records, copy));
  }
  const make = (user = as) =>
    service.call(createSchedule, {
      ...json({ cron: '0 3 * * *', config: 'train.yaml' }),
      path: { project_id: second },
      as: user,
    });
  return { project, schedule_id, second, make };
}

test('a user has at most a hundred active schedules in all projects, however many requests come at once', async () => {
  const { make } = await almostFull();

  const made = await Promise.all([make(), make(), make(), make()]);

  expect(made.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
  expect(made.find(({ status }) => status === 409)?.json.detail).toBe(full);
});

test('a paused or deleted schedule makes room, and none is resumed or taken over without room', async () => {
  const { project, schedule_id, second, make } = await almostFull();
  const { service, as } = project;
  const [, another] = [await make(), await make()];
  const member = await service.user('developer');
  await service.call(putMember, {
    path: { project_id: second, username: member.user.username },
    query: { role: 'developer' },
    as,
  });

  await project.call(pauseSchedule, schedule_id);
  const inItsPlace = await make();
  const resumed = await project.call(resumeSchedule, schedule_id);
  const changed = await project.call(updateSchedule, schedule_id, json({ paused: false }));
  const path = { project_id: second, schedule_id: another.json.schedule_id };
  const takenOver = await service.call(updateSchedule, { ...json({ name: 'mine' }), path, as: member });
  const resumedThen = await project.call(resumeSchedule, schedule_id);
  const takenBack = await service.call(updateSchedule, { ...json({ name: 'ours' }), path, as });
  await project.call(deleteSchedule, schedule_id);
  const takenBackThen = await service.call(updateSchedule, { ...json({ name: 'ours' }), path, as });

  expect(inItsPlace.status).toBe(200);
  expect([resumed, changed, takenBack].map(({ status, json: { detail } }) => [status, detail])).toEqual(
    Array.from({ length: 3 }, () => [409, full]),
  );
  expect([takenOver, resumedThen, takenBackThen].map(({ status }) => status)).toEqual([200, 200, 200]);
});
