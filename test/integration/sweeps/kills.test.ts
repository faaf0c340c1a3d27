import { expect, test } from 'vitest';
import { allRuns } from '../../../shared/data/sweeps/sweep-run.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { suggest } from '../../../shared/sweeps/suggest.ts';
import { resultsAt } from '../../../shared/sweeps/trial-results.ts';
import { specOf } from '../../../shared/sweeps/trials/advance-sweep.ts';
import { takeAllTurns } from '../../../shared/sweeps/trials/take-turns.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { recordedSweep } from './recorded-sweep.ts';

const trials = 20;
const parallel = 3;

test('a sweep whose processes are killed at drawn writes begins each trial once', async () => {
  const random = seededRandom(43);
  const swept = await recordedSweep({
    method: 'tpe',
    seed: 7,
    trials,
    parallel,
    parameters: { lr: { min: 0.001, max: 1, scale: 'log' } },
  });
  const { records } = swept.service;

  /** A process that dies before or after one of its writes, in one of four cases. */
  const mortal = (): TableWriter<'records'> => {
    let writes = random() < 0.6 ? Math.floor(random() * 3) : Number.POSITIVE_INFINITY;
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
  const decide = () => takeAllTurns(swept.context(mortal()), () => true);

  /** Ends one of the running experiments; its container may die, too. */
  async function endOne(): Promise<void> {
    const running = await swept.running();
    const one = running[Math.floor(random() * running.length)];
    if (one === undefined) return;
    const rows = await allRuns(records, swept.path);
    const { lr } = JSON.parse(rows.find(({ run }) => run === one.sweep?.run)?.params ?? '{}');
    await swept.end(one, Math.log10(lr / 0.03) ** 2, mortal()).catch(() => undefined);
  }

  let most = 0;
  while ((await swept.read()).status === 'RUNNING') {
    most = Math.max(most, (await swept.running()).length);
    if (random() < 0.6) await endOne();
    // Events come twice, and at once.
    await Promise.allSettled(random() < 0.3 ? [decide(), decide()] : [decide()]);
  }

  const sweep = await swept.read();
  const rows = await allRuns(records, sweep);
  const all = await swept.experiments();
  expect(sweep).toMatchObject({ status: 'COMPLETED', counts: { complete: trials } });
  expect(most).toBe(parallel);
  expect(all.map((one) => one.sweep?.run).sort((one, other) => (one ?? 0) - (other ?? 0))).toEqual(
    Array.from({ length: trials }, (_, run) => run),
  );
  const search = { ...specOf(sweep), goal: sweep.criterion.goal };
  for (const { trial, params, tries } of rows) {
    const saw = resultsAt(rows, 1, tries[0]?.begun).filter((result) => result.trial < trial);
    expect(suggest(search, trial, saw)).toEqual(JSON.parse(params));
  }
});
