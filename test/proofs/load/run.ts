// The service under load, on this machine: `npm run proof -- load`. The bounds are meant for two cores that do nothing else.

import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runMain } from '../../../infra/command/run-main.ts';
import type { Figure } from '../bench/figure.ts';
import { type MeasuredGroup, renderTable, summary } from '../bench/figure-table.ts';
import { startService } from '../bench/service-process.ts';
import { judgeOverload, judgeRecovery, judgeServed, perOperation } from './judge.ts';
import { fire, type Sample } from './open-loop.ts';
import { type LoadOptions, readOptions } from './options.ts';
import { Sender, type Shot } from './send.ts';
import { prepareTraffic } from './traffic.ts';

const maxMilliseconds = 250;
const maxSignInMilliseconds = 500;
const signInsPerSecond = 20;
const warmUpSeconds = 5;
/** Longer than the 10 s within which the service has to recover. */
const recoverySeconds = 15;
const password = 'password of the load test';

const say = (text: string): void => void process.stderr.write(`${text}\n`);

class Phases {
  readonly groups: MeasuredGroup[] = [];
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  async run(
    { title, perSecond, seconds }: { title: string; perSecond: number; seconds: number },
    next: () => Shot,
    toFigures: (samples: readonly Sample[]) => Figure[],
  ): Promise<Sample[]> {
    say(`${title}: ${seconds} s`);
    const samples = await fire(this.#sender, next, { perSecond, seconds });
    const heading = `${title}, ${perSecond} requests/s for ${seconds} s`;
    this.groups.push({
      name: title,
      title: heading,
      figures: toFigures(samples),
      failure: undefined,
      seconds,
    });
    return samples;
  }
}

async function measure(url: string, options: LoadOptions): Promise<MeasuredGroup[]> {
  const { seconds, perSecond } = options;
  const sender = new Sender(url);
  const traffic = await prepareTraffic(sender, password);
  const short = Math.max(10, Math.round(seconds / 4));
  const phases = new Phases(sender);

  await fire(sender, traffic.mixed, { perSecond, seconds: warmUpSeconds });
  const normal = { title: 'Normal load', perSecond, seconds };
  const samples = await phases.run(normal, traffic.mixed, (all) =>
    judgeServed(all, seconds, maxMilliseconds),
  );
  await phases.run(
    { title: 'Sign-ins', perSecond: signInsPerSecond, seconds: short },
    traffic.signIn,
    (all) => judgeServed(all, short, maxSignInMilliseconds),
  );
  await phases.run(
    { title: 'Three times the load', perSecond: 3 * perSecond, seconds: short },
    traffic.mixed,
    (all) => judgeOverload(all, short),
  );
  await phases.run({ title: 'Afterwards', perSecond, seconds: recoverySeconds }, traffic.mixed, (all) =>
    judgeRecovery(all, recoverySeconds, maxMilliseconds),
  );
  sender.close();
  const figures = perOperation(samples);
  return [
    ...phases.groups,
    { name: 'operations', title: 'p99 in the normal load', figures, failure: undefined, seconds },
  ];
}

/** Ends with 0 just where all bounds were met. */
async function load(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const folder = await mkdtemp(join(tmpdir(), 'mps-load-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const service = await startService(folder, { ADMIN_PASSWORD: password });
  cleanup.defer(() => service.stop());
  const [before = 0] = loadavg();
  const groups = await measure(service.url, options);
  const place = `Node ${process.version}, ${availableParallelism()} CPUs, load before ${before.toFixed(1)}`;
  process.stdout.write(`\n${place}\n\n${renderTable(groups)}\n${summary(groups)}\n`);
  return groups.some(({ figures }) => figures.some(({ bound }) => bound?.isMet === false)) ? 1 : 0;
}

await runMain(load);
