import { expect, test } from 'vitest';
import { createLogger } from '../../../../shared/core/log.ts';
import { newId } from '../../../../shared/core/new-id.ts';
import { readSettings } from '../../../../shared/core/settings.ts';
import { findRule, listReports, putReport, putRule } from '../../../../shared/data/sweeps/rung.ts';
import type { TableWriter } from '../../../../shared/data/table/table.ts';
import { Heart } from '../../../../shared/runner/job/heart.ts';
import { JobStop } from '../../../../shared/runner/job/job-stop.ts';
import { RungReporter } from '../../../../shared/runner/telemetry/rung-reporter.ts';
import { leasedExperiment } from '../leased-experiment.ts';

test('a run at a rung is judged by every report that was stored before its own', async () => {
  const { records, experiment, lease } = await leasedExperiment();
  const ids = { project_id: experiment.project_id, sweep_id: newId() };
  const criterion = { name: 'loss', goal: 'minimize' } as const;
  await records.write(putRule(ids, { rule: 'asha', step_min: 1, reduction: 3, criterion }));
  const stop = new JobStop();
  let gets = 0;
  let reading: Promise<unknown> | undefined;
  /** Lets another run report between the read of the reports and that of their number. */
  const met: TableWriter<'records'> = {
    ...records,
    query(...given) {
      const page = records.query(...given);
      reading = page;
      return page;
    },
    async get(...given) {
      gets += 1;
      if (gets === 2) {
        reading = undefined;
        await Promise.resolve();
        await reading;
        const rule = await findRule(records, ids);
        if (rule === undefined) throw new Error('there is no rule');
        await records.write(...putReport(ids, rule, { run: 0, rung: 0, step: 1, value: 0.1, stopped: null }));
      }
      return records.get(...given);
    },
  };
  const reporter = new RungReporter({
    record: { ...experiment, sweep: { sweep_id: ids.sweep_id, run: 1, trial: 1, repeat: 1, seed: 1 } },
    lease,
    node: 0,
    records: met,
    settings: readSettings({ RECORDS_TABLE: 'records', BUCKET: 'bucket' }),
    stop,
    heart: new Heart(),
    watch: undefined as never,
    log: createLogger('error', () => {}),
    now: () => new Date(),
  });

  reporter.take([{ name: 'loss', value: 2, step: 1, time: Date.now() }]);
  await reporter.close();

  const [, own] = await listReports(records, ids);
  expect(own).toMatchObject({ run: 1, order: 1, stopped: expect.stringContaining('worse than 1 of 1') });
  expect(stop.reason).toMatchObject({ kind: 'early' });
});
