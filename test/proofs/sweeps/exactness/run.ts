/*
 * Sweeps of real trainings while a random process of the service is killed (SIGKILL) every few seconds: the service
 * with everything below it, one of its engines, or the container of a run. `judge-sweep.ts` says what must hold.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../../infra/command/command-error.ts';
import { readFlags } from '../../../../infra/command/read-flags.ts';
import { runMain } from '../../../../infra/command/run-main.ts';
import { seededRandom } from '../../../support/seeded-random.ts';
import { cases } from './cases.ts';
import { judgeSweep, mostAtOnce } from './judge-sweep.ts';
import { KilledService } from './killed-service.ts';
import { playSweep } from './play-sweep.ts';

const usage = `Usage: npm run proof -- sweeps [-- --only <case>]... [--trials 200] [--parallel 4] [--seconds 5] [--seed 43]
  plays a sweep of each case: ${Object.keys(cases).join(', ')}
  --seconds  mean seconds between two kills`;

async function proveExactness(): Promise<number> {
  const { values } = readFlags(usage, {
    options: {
      only: { type: 'string', multiple: true, default: Object.keys(cases) },
      trials: { type: 'string', default: '200' },
      parallel: { type: 'string', default: '4' },
      seconds: { type: 'string', default: '5' },
      seed: { type: 'string', default: '43' },
    },
  });
  let isExact = true;
  console.log(
    '| sweep | runs | of these ended early | experiments | most at once | kills: service, engine, container | seconds | |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const name of values.only) {
    const { row, faults } = await proveCase(name, values);
    console.log(`| ${[...row, faults.length === 0 ? '' : 'MISSED'].join(' | ')} |`);
    for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`);
    isExact &&= faults.length === 0;
  }
  return isExact ? 0 : 1;
}

async function proveCase(
  name: string,
  flags: { trials: string; parallel: string; seconds: string; seed: string },
): Promise<{ row: unknown[]; faults: string[] }> {
  const spec = cases[name];
  if (spec === undefined) throw new CommandError(`there is no case ${name}\n${usage}`);
  const [trials, parallel, seconds] = [flags.trials, flags.parallel, flags.seconds].map(Number);
  const random = seededRandom(Number(flags.seed));
  const folder = await mkdtemp(join(tmpdir(), 'mps-sweeps-'));
  await chmod(folder, 0o711);
  const data = join(folder, 'data');
  const begun = performance.now();
  const service = await KilledService.start(data, random);
  try {
    const isGrid = 'method' in spec && spec.method === 'grid';
    const whole = { ...spec, parallel, ...(!isGrid && { trials }) };
    const say = (line: string) => console.error(`${name}: ${line}`);
    const stored = await playSweep(service, data, whole, { seconds: seconds ?? 5, random, say });
    const { byClock } = mostAtOnce(stored);
    const took = Math.round((performance.now() - begun) / 1000);
    const kills = Object.values(service.kills).join(', ');
    return {
      row: [
        name,
        stored.runs.length,
        stored.sweep.counts.stopped_early,
        stored.experiments.length,
        byClock,
        kills,
        took,
      ],
      faults: judgeSweep(stored),
    };
  } finally {
    await service.end('SIGKILL').catch(() => undefined);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

await runMain(proveExactness);
