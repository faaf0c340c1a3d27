import { expect } from 'vitest';
import { event as schedules } from '../../../functions/events/schedules.event.ts';
import { endpoint as createSchedule } from '../../../functions/projects/schedules/create-schedule.endpoint.ts';
import type { BatchControl } from '../../../shared/aws/batch.ts';
import type { Timers } from '../../../shared/aws/signed/timers.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { type Experiment, listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';
import { replaceSchedule, requireSchedule } from '../../../shared/data/schedules/schedule.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import { timeWrites } from '../../../shared/schedules/advance-schedule.ts';
import { idleBatch } from '../../support/ended-run.ts';
import { type Call, type TestService, testService } from '../../support/service.ts';
import { trainableProject } from '../projects/trainable-project.ts';
import { json } from '../users/body.ts';

/** A project that schedules can train, and a clock that the test sets. Its runs have no containers: the test ends them. */
export async function scheduledProject(more: Readonly<Record<string, string>> = {}) {
  const service: TestService = await testService({
    BATCH_ENDPOINT: 'http://127.0.0.1:9',
    LOG_LEVEL: 'error',
    ...more,
  });
  const { records } = service;
  const as = await service.user('developer');
  const project_id = await trainableProject(service, as);
  let later = 0;
  const now = () => new Date(Date.now() + later);

  const experiments = async () => (await listExperiments(records, project_id, { limit: 1000 })).items;
  const call = (endpoint: AnyEndpoint, schedule_id = '', more: Call = {}) =>
    service.call(endpoint, { path: { project_id, ...(schedule_id !== '' && { schedule_id }) }, as, ...more });
  const read = (schedule_id: string) => requireSchedule(records, { project_id, schedule_id });
  const end = async (one: Experiment | undefined, status: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED') => {
    if (one === undefined) throw new Error('nothing runs');
    await concludeJob(records, one, { status, reason: status === 'FAILED' ? 'It broke.' : null }, now());
  };
  const running = async () => (await experiments()).filter(({ status }) => !isFinal(status));

  return {
    service,
    as,
    project_id,
    now,
    call,
    read,
    end,
    experiments,
    running,
    make: async (body: object = {}, user = as) => {
      const made = await call(createSchedule, '', {
        ...json({ cron: '0 3 * * *', config: 'train.yaml', ...body }),
        as: user,
      });
      expect(made.status, made.text).toBe(200);
      return made.json;
    },
    /** Set the clock to a second after the next time of a schedule. */
    async untilNext(schedule_id: string): Promise<string> {
      const { next_at } = await read(schedule_id);
      if (next_at === null) throw new Error('it is paused');
      later = Date.parse(next_at) + 1000 - Date.now();
      return next_at;
    },
    /** Let the time of a schedule have come ten seconds ago, and return it. Nothing has looked at it yet. */
    async untilDue(schedule_id: string): Promise<string> {
      const before = await read(schedule_id);
      const next = { ...before, next_at: new Date(Math.floor(Date.now() / 1000 - 10) * 1000).toISOString() };
      const { writes } = timeWrites({ timers: undefined }, before, next, new Date());
      await records.write(replaceSchedule(before, next, new Date()), ...writes);
      return next.next_at;
    },
    pass: (seconds: number) => {
      later += seconds * 1000;
    },
    /** Look at the times that have come, as the timer of a machine does; a timer of AWS names one schedule. */
    look: (
      event: object = { repeats: true },
      { writer = records, timers, batch = idleBatch, without = [] }: Looking = {},
    ) =>
      schedules.run(event, {
        owners: service.accounts,
        records: writer,
        batch,
        keys: service.accounts,
        timers,
        settings: readSettings(
          Object.fromEntries(Object.entries(service.environment).filter(([name]) => !without.includes(name))),
        ),
        now,
        log: createLogger('error', () => {}),
      }),
  };
}

interface Looking {
  writer?: TableWriter<'records'>;
  timers?: Timers;
  batch?: BatchControl;
  /** Settings that the deployment has lost since. */
  without?: readonly string[];
}
