// Ends the runs of a sweep and takes its decisions, a few a second, in a process of its own as on AWS. The parent says
// when to go on and when to rest, and is told of the end.
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../../../shared/core/log.ts';
import { newId } from '../../../../shared/core/new-id.ts';
import { requireExperiment } from '../../../../shared/data/experiments/experiment.ts';
import { requireSweep } from '../../../../shared/data/sweeps/sweep.ts';
import type { SweepIds } from '../../../../shared/data/sweeps/sweep-run.ts';
import { takeTurnAfter } from '../../../../shared/sweeps/trials/take-turns.ts';
import { endRun, idleBatch } from '../../../support/ended-run.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { openService } from '../../faults/world/service.ts';

/** What the parent gives. */
export interface Deciding {
  environment: Record<string, string>;
  sweep: SweepIds;
  /** Decisions of a second. */
  rate: number;
}

const { environment, sweep, rate }: Deciding = JSON.parse(process.argv[2] ?? '{}');
const { records, accounts, settings } = openService(environment);
const log = createLogger('error', (line) => process.stderr.write(line));
const context = { records, batch: idleBatch, keys: accounts, settings, now: () => new Date(), newId, log };
const random = seededRandom(43);
let isResting = true;
process.on('message', (message) => {
  isResting = message === 'rest';
});

for (;;) {
  const begun = performance.now();
  if (!isResting) {
    const { running } = await requireSweep(records, sweep.project_id, sweep.sweep_id);
    const [first] = running;
    if (first === undefined) break;
    const one = await requireExperiment(records, sweep.project_id, first.experiment_id);
    await endRun(records, one, random());
    await takeTurnAfter(context, one.experiment_id);
  }
  await sleep(Math.max(1, 1000 / rate - (performance.now() - begun)));
}
process.send?.('ended');
process.disconnect();
