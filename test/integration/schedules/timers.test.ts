import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endpoint as pauseSchedule } from '../../../functions/projects/schedules/pause-schedule.endpoint.ts';
import { endpoint as resumeSchedule } from '../../../functions/projects/schedules/resume-schedule.endpoint.ts';
import { endpoint as updateSchedule } from '../../../functions/projects/schedules/update-schedule.endpoint.ts';
import { setTimers } from '../../../shared/aws/needs.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { listDue } from '../../../shared/data/schedules/schedule-time.ts';
import { json } from '../users/body.ts';
import { scheduledProject } from './recorded-schedule.ts';

interface SetTimer {
  path: string;
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into the request
  body: any;
}

const set: SetTimer[] = [];
let status = 200;

/** EventBridge Scheduler, as far as it takes timers. It refuses one that exists. */
const scheduler = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const path = request.url ?? '';
  const exists = set.some((one) => one.path === path);
  if (status === 200 && !exists) set.push({ path, body: JSON.parse(Buffer.concat(parts).toString()) });
  response.writeHead(exists ? 409 : status, { 'Content-Type': 'application/json' }).end('{}');
});

const role = 'arn:aws:iam::111122223333:role/mps-timers';
const target = 'arn:aws:lambda:us-east-1:111122223333:function:mps-schedules';

async function onAws() {
  set.length = 0;
  status = 200;
  const { port } = scheduler.address() as AddressInfo;
  const more = { SCHEDULE_GROUP: 'mps', SCHEDULE_ROLE: role, SCHEDULE_FUNCTION: target };
  const project = await scheduledProject({ ...more, SCHEDULER_ENDPOINT: `http://127.0.0.1:${port}` });
  const { environment } = project.service;
  const timers = setTimers.open({ environment, settings: readSettings(environment) });
  if (timers === undefined) throw new Error('there are no timers');
  const left = async () => (await listDue(project.service.records, project.now(), undefined)).items;
  return { ...project, timers, left };
}

beforeAll(async () => {
  await once(scheduler.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => void scheduler.close());

test('a schedule has a timer at its next time, and after it one at the next; no row of times is left', async () => {
  const { make, untilNext, look, left, experiments, timers } = await onAws();
  const { schedule_id, project_id } = await make();
  const first = await untilNext(schedule_id);
  const event = JSON.parse(set[0]?.body.Target.Input);

  await look(event, { timers });
  await look(event, { timers });

  const seconds = (at: string) => Date.parse(at) / 1000;
  expect(event).toEqual({ project_id, schedule_id });
  expect(set[0]).toEqual({
    path: `/schedules/${schedule_id}-${seconds(first)}`,
    body: {
      GroupName: 'mps',
      ScheduleExpression: `at(${first.slice(0, 19)})`,
      ScheduleExpressionTimezone: 'UTC',
      FlexibleTimeWindow: { Mode: 'OFF' },
      ActionAfterCompletion: 'DELETE',
      Target: { Arn: target, RoleArn: role, Input: JSON.stringify({ project_id, schedule_id }) },
    },
  });
  expect(set.slice(1).map(({ path }) => path)).toEqual([
    `/schedules/${schedule_id}-${seconds(first) + 86_400}`,
  ]);
  expect(await experiments()).toHaveLength(1);
  expect(await left()).toEqual([]);
});

test('if Scheduler is away, the schedule is made all the same, and the background pass sets its timer', async () => {
  const { make, look, left, timers } = await onAws();
  status = 503;
  const { status: shown } = await make();
  await look({ repeats: true }, { timers });
  const waiting = await left();
  status = 200;

  await look({ repeats: true }, { timers });

  expect(shown).toBe('ACTIVE');
  expect(waiting).toHaveLength(1);
  expect(set).toHaveLength(1);
  expect(await left()).toEqual([]);
});

test('a timer of a schedule that was paused meanwhile begins nothing, and resuming sets a timer', async () => {
  const { make, call, untilNext, look, experiments, timers } = await onAws();
  const { schedule_id, project_id } = await make({ cron: '*/5 * * * *' });
  await untilNext(schedule_id);
  await call(pauseSchedule, schedule_id);

  await look({ project_id, schedule_id }, { timers });
  const before = set.length;
  await call(resumeSchedule, schedule_id);

  expect(await experiments()).toEqual([]);
  expect(before).toBe(1);
  expect(set.length).toBeGreaterThanOrEqual(1);
});

test('a change after the time has come takes it from no timer: it begins once, and the next timer is at the new time', async () => {
  const { make, call, untilDue, look, left, experiments, read, timers } = await onAws();
  const { schedule_id, project_id } = await make();
  await untilDue(schedule_id);

  await call(updateSchedule, schedule_id, json({ cron: '30 4 * * *' }));
  await look({ project_id, schedule_id }, { timers });
  await look({ project_id, schedule_id }, { timers });
  await look({ repeats: true }, { timers });

  const { next_at } = await read(schedule_id);
  expect(await experiments()).toHaveLength(1);
  expect(await left()).toEqual([]);
  expect(next_at?.slice(11, 16)).toBe('04:30');
  expect(set.at(-1)?.path).toBe(`/schedules/${schedule_id}-${Date.parse(next_at ?? '') / 1000}`);
});
