// Budgets over simulated jobs: `npm run proof -- budgets`. About three minutes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFlags } from '../../../../infra/command/read-flags.ts';
import { runMain } from '../../../../infra/command/run-main.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { renderTable, summary } from '../../bench/figure-table.ts';
import { startStores } from '../../faults/world/engines.ts';
import { newService } from '../../faults/world/service.ts';
import { judgeGroups } from './judge-groups.ts';
import { type SimulatedGroup, simulateGroup } from './simulate-jobs.ts';

const usage = `Usage: npm run proof -- budgets [-- --jobs 1000] [--seed 43]
  runs jobs in simulated time with budgets, lost hosts and later attempts, and compares what they cost with the prices`;

async function proveBudgets(): Promise<number> {
  const { values } = readFlags(usage, {
    options: { jobs: { type: 'string', default: '1000' }, seed: { type: 'string', default: '43' } },
  });
  const random = seededRandom(Number(values.seed));
  const folder = await mkdtemp(join(tmpdir(), 'mps-budgets-'));
  const begun = performance.now();
  try {
    await using started = new AsyncDisposableStack();
    const service = await newService(await startStores(started, folder), 'http://127.0.0.1:9');
    const groups: SimulatedGroup[] = [];
    for (let jobs = 0; jobs < Number(values.jobs); jobs += groups.at(-1)?.jobs.length ?? 1)
      groups.push(await simulateGroup(service, random, groups.length % 2 === 1));
    const figures = judgeGroups(groups);
    const seconds = (performance.now() - begun) / 1000;
    const table = [{ name: 'budgets', title: 'Budgets', figures, failure: undefined, seconds }];
    console.log(renderTable(table));
    console.log(summary(table));
    return figures.every(({ bound }) => bound?.isMet !== false) ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await runMain(proveBudgets);
