import { describe, expect, test } from 'vitest';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as pauseSchedule } from '../../../functions/projects/schedules/pause-schedule.endpoint.ts';
import { endpoint as updateSchedule } from '../../../functions/projects/schedules/update-schedule.endpoint.ts';
import { json } from '../users/body.ts';
import { scheduledProject } from './recorded-schedule.ts';

test('a change moves the next time, and lets it run as who made the change; bad ones change nothing', async () => {
  const project = await scheduledProject();
  const { schedule_id, next_at } = await project.make({ zone: 'Europe/Berlin' });
  const other = await project.service.user('developer');
  const path = { project_id: project.project_id, username: other.user.username };
  await project.service.call(putMember, { path, query: { role: 'developer' }, as: project.as });
  const change = (body: object, user = other) =>
    project.call(updateSchedule, schedule_id, { ...json(body), as: user });

  const renamed = await change({ name: 'nightly' });
  const moved = await change({ cron: '30 4 * * *', zone: 'UTC', overlap: 'queue' });
  const refused = await change({ cron: '* * * * *', zone: 'Mars/Olympus', budget: -1, overlap: 'both' });
  const empty = await change({});
  const unpriced = await change({ budget: 5 });
  await project.call(pauseSchedule, schedule_id);
  const paused = await change({ cron: '0 5 * * *' });

  expect(renamed.json).toMatchObject({ name: 'nightly', next_at, username: other.user.username });
  expect(moved.json).toMatchObject({ cron: '30 4 * * *', zone: 'UTC', overlap: 'queue', name: 'nightly' });
  expect(moved.json.next_at.slice(11, 16)).toBe('04:30');
  expect(refused.json.errors.map(({ name }: { name: string }) => name).sort()).toEqual([
    'budget',
    'cron',
    'overlap',
    'zone',
  ]);
  expect([refused, empty, unpriced].map(({ status }) => status)).toEqual([400, 400, 400]);
  expect(paused.json).toMatchObject({ status: 'PAUSED', next_at: null, cron: '0 5 * * *' });
});

test('the command of the next runs can be changed; one that its configuration cannot fill is refused', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  const change = (body: object) => project.call(updateSchedule, schedule_id, json(body));

  const unfilled = await change({ command: 'python train.py --depth {depth}' });
  const expanded = await change({ command: 'python train.py $HOME', cron: 'never' });
  const changed = await change({ command: 'python retrain.py --lr {lr}' });
  await project.untilNext(schedule_id);
  await project.look();

  expect(unfilled).toMatchObject({ status: 400, json: { errors: [{ in: 'body', name: 'command' }] } });
  expect(expanded.json.errors.map(({ name }: { name: string }) => name).sort()).toEqual(['command', 'cron']);
  expect(changed.json.command).toBe('python retrain.py --lr {lr}');
  const [run] = await project.experiments();
  expect(run?.environment.entry_point_command).toBe('python retrain.py --lr {lr}');
});

test('one change pauses a schedule, and one lets it run again at its new time, as who made the change', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  const change = (body: object) => project.call(updateSchedule, schedule_id, json(body));

  const paused = await change({ paused: true, name: 'nightly' });
  const again = await change({ paused: true });
  const resumed = await change({ paused: false, cron: '30 4 * * *' });

  const { username } = project.as.user;
  const stopped = {
    status: 'PAUSED',
    status_reason: `Paused by ${username}.`,
    next_at: null,
    name: 'nightly',
  };
  expect(paused.json).toMatchObject(stopped);
  expect(again.json).toMatchObject(stopped);
  expect(resumed.json).toMatchObject({ status: 'ACTIVE', status_reason: null, name: 'nightly' });
  expect(resumed.json.next_at.slice(11, 16)).toBe('04:30');
});

describe('a change of a schedule whose time has come, and that has not begun yet,', () => {
  test('keeps that time: it runs once, with the fields of the change, and then at the new times', async () => {
    const project = await scheduledProject();
    const { schedule_id } = await project.make({ cron: '0 3 * * *' });
    const due_at = await project.untilDue(schedule_id);

    const changed = await project.call(
      updateSchedule,
      schedule_id,
      json({ cron: '30 4 * * *', command: 'python retrain.py' }),
    );
    await project.look();
    await project.look();

    const { recent, next_at } = await project.read(schedule_id);
    const [run, ...others] = await project.experiments();
    expect(changed.json.next_at).toBe(due_at);
    expect(others).toEqual([]);
    expect(run?.environment.entry_point_command).toBe('python retrain.py');
    expect(recent).toEqual([expect.objectContaining({ due_at, missed: 0, result: 'running', reason: null })]);
    expect(next_at?.slice(11, 16)).toBe('04:30');
  });

  test('drops it only if it pauses the schedule', async () => {
    const project = await scheduledProject();
    const { schedule_id } = await project.make();
    await project.untilDue(schedule_id);
    await project.call(updateSchedule, schedule_id, json({ paused: true }));

    await project.look();

    expect(await project.experiments()).toEqual([]);
  });
});
