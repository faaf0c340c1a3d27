import { describe, expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as revokeToken } from '../../../functions/auth/revoke-token.endpoint.ts';
import { event as notify } from '../../../functions/events/notify.event.ts';
import { endpoint as putProjectBudget } from '../../../functions/projects/budget/put-project-budget.endpoint.ts';
import { endpoint as listDeliveries } from '../../../functions/projects/hooks/list-deliveries.endpoint.ts';
import { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import { endpoint as deleteMember } from '../../../functions/projects/members/delete-member.endpoint.ts';
import { endpoint as putMember } from '../../../functions/projects/members/put-member.endpoint.ts';
import { endpoint as createSchedule } from '../../../functions/projects/schedules/create-schedule.endpoint.ts';
import { endpoint as deleteSchedule } from '../../../functions/projects/schedules/delete-schedule.endpoint.ts';
import { endpoint as listSchedules } from '../../../functions/projects/schedules/list-schedules.endpoint.ts';
import { endpoint as pauseSchedule } from '../../../functions/projects/schedules/pause-schedule.endpoint.ts';
import { endpoint as readSchedule } from '../../../functions/projects/schedules/read-schedule.endpoint.ts';
import { endpoint as resumeSchedule } from '../../../functions/projects/schedules/resume-schedule.endpoint.ts';
import { endpoint as runSchedule } from '../../../functions/projects/schedules/run-schedule.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { userKey } from '../../../shared/data/accounts/user.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import { replaceSchedule } from '../../../shared/data/schedules/schedule.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';
import { scheduledProject } from './recorded-schedule.ts';

test('a schedule runs at its time, by the inputs of its making, and then at the next one', async () => {
  const project = await scheduledProject();
  const { schedule_id, next_at } = await project.make({ name: 'nightly', zone: 'Europe/Berlin' });
  await project.look();
  const before = await project.experiments();
  const due_at = await project.untilNext(schedule_id);

  await project.look();
  const [begun] = await project.experiments();
  await project.end(begun);
  await project.look();

  const { json: shown } = await project.call(readSchedule, schedule_id);
  expect(before).toEqual([]);
  expect(due_at).toBe(next_at);
  expect(begun).toMatchObject({
    schedule_id,
    user_id: project.as.user.user_id,
    config_id: 'train.yaml',
    config_version: 1,
  });
  expect(shown).toMatchObject({ status: 'ACTIVE', running: null, failures: 0 });
  expect(shown.recent).toEqual([
    expect.objectContaining({ due_at, missed: 0, result: 'succeeded', experiment_id: begun?.experiment_id }),
  ]);
  expect(Date.parse(shown.next_at)).toBeGreaterThan(Date.parse(due_at));
});

test('an event that comes twice, and at once, begins one experiment', async () => {
  const project = await scheduledProject();
  const { schedule_id, project_id } = await project.make();
  await project.untilNext(schedule_id);
  const event = { project_id, schedule_id };

  await Promise.all([project.look(event), project.look(event), project.look(), project.look()]);
  await project.look(event);

  expect(await project.experiments()).toHaveLength(1);
});

test('a clock that is set back after the times were read takes no time away', async () => {
  const project = await scheduledProject();
  const { records } = project.service;
  const { schedule_id } = await project.make();
  await project.untilNext(schedule_id);
  const writer: typeof records = {
    ...records,
    async query(asked) {
      const page = await records.query(asked);
      if (page.items.length > 0) project.pass(-3600);
      return page;
    },
  };

  await project.look({ repeats: true }, { writer });
  const before = await project.experiments();
  project.pass(3600);
  await project.look();

  expect(before).toEqual([]);
  expect(await project.experiments()).toHaveLength(1);
});

test('times that passed while the service did not run are made up for by one run, which says so', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  const due_at = await project.untilNext(schedule_id);
  project.pass(3 * 24 * 3600);

  await project.look();
  await project.look();

  const { recent, next_at } = await project.read(schedule_id);
  expect(await project.experiments()).toHaveLength(1);
  expect(recent).toEqual([expect.objectContaining({ due_at, missed: 3, result: 'running' })]);
  expect(recent[0]?.reason).toBe(
    `It was due at ${due_at}, when the service did not run. 3 more times passed until then: one run stands for all.`,
  );
  expect(Date.parse(next_at ?? '')).toBeGreaterThan(project.now().getTime());
});

describe('while the run before has not ended', () => {
  test('a time is skipped, with the reason', async () => {
    const project = await scheduledProject();
    const { schedule_id } = await project.make();
    await project.untilNext(schedule_id);
    await project.look();
    await project.untilNext(schedule_id);

    await project.look();

    const { recent } = await project.read(schedule_id);
    const [only, ...others] = await project.experiments();
    expect(others).toEqual([]);
    expect(recent[0]).toMatchObject({
      result: 'skipped',
      reason: `The run before, ${only?.experiment_id}, had not ended.`,
    });
  });

  test('one run is queued if it is to be, and begins at the end; a further one is skipped', async () => {
    const project = await scheduledProject();
    const { schedule_id } = await project.make({ overlap: 'queue' });
    for (let time = 0; time < 3; time += 1) {
      await project.untilNext(schedule_id);
      await project.look();
    }
    const [first] = await project.experiments();
    const queued = await project.read(schedule_id);

    await project.end(first);
    await project.look();

    const { recent, waiting } = await project.read(schedule_id);
    expect(queued.recent.map(({ result }) => result)).toEqual(['skipped', 'waiting', 'running']);
    expect(await project.experiments()).toHaveLength(2);
    expect(recent.map(({ result }) => result)).toEqual(['running', 'skipped', 'succeeded']);
    expect(waiting).toBeNull();
  });
});

test('three failures in a row pause it, and hooks are told; one success begins the count anew', async () => {
  const project = await scheduledProject();
  const hook = { path: { project_id: project.project_id, name: 'team' }, as: project.as };
  const told = { url: 'https://hooks.invalid/x', format: 'slack', events: ['schedule.paused'] };
  await project.service.call(putHook, { ...json(told), ...hook });
  const { schedule_id } = await project.make({ name: 'nightly' });
  const fire = async (status: 'SUCCEEDED' | 'FAILED') => {
    await project.untilNext(schedule_id);
    await project.look();
    await project.end((await project.running())[0], status);
    await project.look();
  };

  for (const status of ['FAILED', 'FAILED', 'SUCCEEDED', 'FAILED', 'FAILED'] as const) await fire(status);
  const before = await project.read(schedule_id);
  await fire('FAILED');
  const paused = await project.read(schedule_id);
  project.pass(7 * 24 * 3600);
  await project.look();
  await taskHandler(notify, project.service.environment)({ repeats: true });
  const { json: deliveries } = await project.service.call(listDeliveries, hook);
  const resumed = await project.call(resumeSchedule, schedule_id);

  expect(before).toMatchObject({ status: 'ACTIVE', failures: 2 });
  expect(paused).toMatchObject({
    status: 'PAUSED',
    status_reason: 'Its last 3 runs failed. The last one: It broke.',
    next_at: null,
  });
  expect(await project.experiments()).toHaveLength(6);
  expect(deliveries).toEqual([
    expect.objectContaining({ type: 'schedule.paused', subject: schedule_id, title: 'nightly was paused' }),
  ]);
  expect(resumed.json).toMatchObject({ status: 'ACTIVE', failures: 0, status_reason: null });
});

describe('it runs with the rights that its user has then', () => {
  test('a user who is no longer a developer of the project pauses it, until another resumes it as themselves', async () => {
    const project = await scheduledProject();
    const { service, project_id, as } = project;
    const member = await service.user('developer');
    const path = { project_id, username: member.user.username };
    await service.call(putMember, { path, query: { role: 'developer' }, as });
    const { schedule_id } = await project.make({}, member);
    await service.call(deleteMember, { path, as });
    await project.untilNext(schedule_id);

    await project.look();
    const paused = await project.read(schedule_id);
    const { json: resumed } = await project.call(resumeSchedule, schedule_id);
    await project.untilNext(schedule_id);
    await project.look();

    expect(paused).toMatchObject({
      status: 'PAUSED',
      status_reason: `${member.user.username}, as whom it runs, is no longer a developer of this project.`,
    });
    expect(resumed.username).toBe(as.user.username);
    expect((await project.experiments()).map(({ user_id }) => user_id)).toEqual([as.user.user_id]);
  });

  test('a deleted user, and one with a lower account type, pause it', async () => {
    const project = await scheduledProject();
    const { service, project_id, as } = project;
    const admin = await service.user('admin');
    const reasons: (string | null)[] = [];
    for (const become of ['deleted', 'viewer']) {
      const member = await service.user('developer', `${become}-one`);
      const { username, user_id } = member.user;
      await service.call(putMember, { path: { project_id, username }, query: { role: 'developer' }, as });
      const { schedule_id } = await project.make({}, member);
      if (become === 'deleted') await service.call(deleteUser, { query: { username }, as: admin });
      else
        await service.accounts.write({
          update: userKey(user_id),
          change: { set: { account_type: 'viewer' } },
        });
      await project.untilNext(schedule_id);
      await project.look();
      reasons.push((await project.read(schedule_id)).status_reason);
    }

    expect(reasons).toEqual([
      'deleted-one, as whom it runs, was deleted.',
      'viewer-one, as whom it runs, is a viewer now and may not train.',
    ]);
    expect(await project.experiments()).toEqual([]);
  });

  test('a person who has not signed in at the issuer for 30 days pauses it', async () => {
    const project = await scheduledProject();
    const { service, as } = project;
    const { schedule_id } = await project.make();
    const renew_by = new Date(project.now().getTime() - 1000).toISOString();
    await service.accounts.write({ update: userKey(as.user.user_id), change: { set: { renew_by } } });
    await project.untilNext(schedule_id);

    await project.look();

    expect(await project.read(schedule_id)).toMatchObject({
      status: 'PAUSED',
      status_reason: `${as.user.username}, as whom it runs, must sign in at the issuer again.`,
    });
    expect(await project.experiments()).toEqual([]);
  });

  test('a token with a scope ends what it made once it is revoked, and pays for it until then', async () => {
    const prices = { fargate: { base: 1, vcpu: 0, gib: 0 }, nodes: [] };
    const project = await scheduledProject({ PRICES: JSON.stringify(prices) });
    const scope = { rights: 'run', projects: [project.project_id] };
    const { json: token } = await project.service.call(createNamedToken, {
      ...json({ name: 'cron', scope, budget: 1.5 }),
      as: project.as,
    });
    const { schedule_id } = await project.make(
      { timeout: 3600 },
      { ...project.as, token: token.access_token },
    );
    await project.untilNext(schedule_id);
    await project.look();
    const [charged] = await project.experiments();
    await project.end(charged);
    await project.service.call(revokeToken, { path: { token_id: token.token_id }, as: project.as });
    await project.untilNext(schedule_id);

    await project.look();

    const { status, status_reason } = await project.read(schedule_id);
    expect(charged?.charged_token).toMatchObject({ token_id: token.token_id, budget: 1.5 });
    expect(status).toBe('PAUSED');
    expect(status_reason).toMatch(/^The token with which \w+ made it was revoked or has expired\.$/);
    expect(await project.experiments()).toHaveLength(1);
  });

  test('a token that may only record, or that reaches another project, makes none', async () => {
    const project = await scheduledProject();
    const body = json({ cron: '0 3 * * *', config: 'train.yaml' });
    const answers = await Promise.all(
      [
        { rights: 'record', projects: [project.project_id] },
        { rights: 'run', projects: [await newProject(project.service, project.as)] },
      ].map(async (scope) => {
        const { json: token } = await project.service.call(createNamedToken, {
          ...json({ name: scope.rights, scope }),
          as: project.as,
        });
        return project.call(createSchedule, '', {
          ...body,
          as: { ...project.as, token: token.access_token },
        });
      }),
    );

    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  });
});

test('a project without money left skips the time, and says why', async () => {
  const prices = { fargate: { base: 1, vcpu: 0, gib: 0 }, nodes: [] };
  const project = await scheduledProject({ PRICES: JSON.stringify(prices) });
  const { schedule_id } = await project.make({ timeout: 3600, budget: 0.5 });
  await project.call(putProjectBudget, '', json({ amount: 0.1 }));
  await project.untilNext(schedule_id);

  await project.look();

  const { recent, status, failures } = await project.read(schedule_id);
  expect(recent[0]).toMatchObject({ result: 'skipped', experiment_id: null });
  expect(recent[0]?.reason).toContain('The budget of the project for');
  expect({ status, failures }).toEqual({ status: 'ACTIVE', failures: 0 });
  expect(await project.experiments()).toEqual([]);
});

test('a person runs it now, also while it is paused, but not beside a run that has not ended', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  const { json: paused } = await project.call(pauseSchedule, schedule_id);

  const { status, json: begun } = await project.call(runSchedule, schedule_id);
  const again = await project.call(runSchedule, schedule_id);
  await project.end((await project.running())[0]);
  const after = await project.call(runSchedule, schedule_id);

  const { recent } = await project.read(schedule_id);
  expect(paused).toMatchObject({ status: 'PAUSED', status_reason: `Paused by ${project.as.user.username}.` });
  expect([status, again.status, after.status]).toEqual([200, 409, 200]);
  expect(begun).toMatchObject({ schedule_id, name: 'schedule #1' });
  expect(recent.map(({ due_at, result }) => [due_at, result])).toEqual([
    [null, 'running'],
    [null, 'succeeded'],
  ]);
});

test('a run has a size and a timeout of this deployment, as its schedule may come from another one', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  const resize = async (size: object) => {
    const before = await project.read(schedule_id);
    const next = { ...before, inputs: { ...before.inputs, ...size } };
    await project.service.records.write(replaceSchedule(before, next, new Date()));
  };
  await resize({ vcpus: 1, memory: 2048, timeout: 14 * 24 * 3600 });
  const begun = await project.call(runSchedule, schedule_id);
  await project.end((await project.running())[0]);
  await resize({ vcpus: 3 });
  const asked = await project.call(runSchedule, schedule_id);
  await project.untilNext(schedule_id);
  await project.look();

  const [last] = (await project.read(schedule_id)).recent;
  expect([begun.status, begun.json.timeout]).toEqual([200, 6 * 3600]);
  expect([asked.status, asked.json.detail]).toEqual([400, expect.stringContaining('vcpus: must be one of')]);
  expect(last).toMatchObject({ result: 'failed', experiment_id: null });
  expect(last?.reason).toContain('It could not begin: vcpus: must be one of');
});

test('a deleted schedule leaves its experiments, and nothing fires any more', async () => {
  const project = await scheduledProject();
  const { schedule_id, project_id } = await project.make();
  await project.untilNext(schedule_id);
  await project.look();

  const deleted = await project.call(deleteSchedule, schedule_id);
  project.pass(7 * 24 * 3600);
  await project.look({ project_id, schedule_id });
  await project.end((await project.running())[0]);
  await project.look();

  expect(deleted.json).toEqual({ schedule_id });
  expect(await project.experiments()).toHaveLength(1);
  expect((await project.call(listSchedules)).json).toEqual([]);
  expect((await project.call(readSchedule, schedule_id)).status).toBe(404);
});

test('a project has at most a hundred schedules, however many requests come at once', async () => {
  const project = await scheduledProject();
  const { schedule_id } = await project.make();
  const counters = { update: countersKey(project.project_id), change: { set: { schedules: 98 } } };
  await project.service.records.write(counters);
  const body = json({ cron: '0 3 * * *', config: 'train.yaml' });
  const make = () => project.call(createSchedule, '', body);

  const made = await Promise.all([make(), make(), make(), make()]);
  const full = await make();
  await project.call(deleteSchedule, schedule_id);
  const after = await make();

  expect(made.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
  expect(full.json.detail).toBe('The project has the maximum of 100 schedules. Delete one first.');
  expect(after.status).toBe(200);
});

test('bad input is refused with all its faults, and nothing is kept', async () => {
  const project = await scheduledProject();
  const body = { cron: '* * * * *', zone: 'Mars/Olympus', overlap: 'both', budget: -1, config: '../x' };

  const refused = await project.call(createSchedule, '', json(body));
  const absent = await project.call(createSchedule, '', json({ cron: '0 3 * * *', config: 'other.yaml' }));
  const dear = await project.call(createSchedule, '', json({ cron: '0 3 * * *', budget: 5 }));

  expect(refused.status).toBe(400);
  expect(refused.json.errors.map(({ name }: { name: string }) => name).sort()).toEqual(
    Object.keys(body).sort(),
  );
  expect(refused.json.errors.find(({ name }: { name: string }) => name === 'cron').message).toBe(
    'fires more than once in 5 minutes; allowed is every 5 minutes at most, such as */5 * * * *',
  );
  expect(absent.status).toBe(404);
  expect(dear.json.errors).toEqual([expect.objectContaining({ in: 'body', name: 'budget' })]);
  expect((await project.call(listSchedules)).json).toEqual([]);
});
