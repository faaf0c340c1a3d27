// Whether memory and answers stay as they are: `npm run proof -- soak`.
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { signIn } from '../../../infra/tools/demo/demo-service.ts';
import { figure, median, percentile } from '../bench/figure.ts';
import { renderTable, summary } from '../bench/figure-table.ts';
import { startService } from '../bench/service-process.ts';
import { TrainingProject } from '../bench/training-project.ts';
import { MemorySampler } from './memory-sampler.ts';
import { fire, type Sample } from './open-loop.ts';
import { Sender } from './send.ts';
import { prepareTraffic } from './traffic.ts';
import { type SoakWindow, windowTable } from './window-table.ts';

const password = 'password of the soak test';
/** Windows in a soak; the first one is left to warm up. */
const windows = 10;
/** Before that, so that caches of a bounded size are full: the DynamoDB engine gives each connection 2 MB. */
const warmUp = { perSecond: 300, seconds: 150 };
/** A job follows the other; each writes log and metrics for so long. */
const jobSeconds = 2;
/** Memory and p99 of a window may exceed the earlier ones by this share, and p99 by what a busy machine makes of it. */
const maxGrowth = 0.1;
const jitter = 5;

const usage = `Usage: npm run proof -- soak [--minutes <minutes>] [--rate <requests a second>]
  --minutes  how long it lasts, after two and a half of warming up (30)
  --rate     requests a second (40)`;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const script = `for line in 1 2 3 4 5 6 7 8 9 10; do
  echo "line $line"
  echo "{\\"step\\": $line, \\"name\\": \\"accuracy\\", \\"value\\": 0.$line}" >> "$METRICS_FILE"
done
sleep ${jobSeconds}
echo done > "$OUTPUT_DIR/out"
`;

/** Trains again and again until it is told to stop; answers how many trainings succeeded. */
async function trainOn(project: TrainingProject, signal: AbortSignal): Promise<number> {
  let trained = 0;
  while (!signal.aborted) {
    await project.succeeded(await project.train(), 250);
    trained += 1;
  }
  return trained;
}

const p99 = (samples: readonly Sample[]): number =>
  percentile(
    samples.map(({ took }) => took),
    0.99,
  );

const isGood = ({ status }: Sample): boolean => status >= 200 && status < 400;

async function soak(url: string, pid: number, minutes: number, perSecond: number) {
  const sender = new Sender(url);
  const traffic = await prepareTraffic(sender, password);
  const { client } = await signIn(url, { username: 'admin', password });
  const training = { command: 'sh train.sh', files: { 'train.sh': script } };
  const project = await TrainingProject.create(client, training);
  const stopping = new AbortController();
  const trained = trainOn(project, stopping.signal);
  // Its failure is told when it is awaited.
  trained.catch(() => {});
  const sampler = new MemorySampler(pid);
  say(`warming up for ${warmUp.seconds} s`);
  await fire(sender, traffic.mixed, warmUp);
  const seconds = (minutes * 60) / windows;
  const measured: SoakWindow[] = [];
  const samples: Sample[] = [];
  for (let number = 1; number <= windows; number += 1) {
    sampler.start();
    const these = await fire(sender, traffic.mixed, { perSecond, seconds });
    const one = { number, requests: these.length, p99: p99(these), memory: sampler.stop() };
    measured.push(one);
    for (const sample of these) samples.push(sample);
    say(`window ${number} of ${windows}: p99 ${one.p99.toFixed(1)} ms`);
  }
  stopping.abort();
  const jobs = await trained;
  sender.close();
  return { measured, samples, jobs };
}

/** How much more the second half has than the first, without the window in which everything warms up. */
function growth(values: readonly number[]): number {
  const [, ...warm] = values;
  const half = Math.ceil(warm.length / 2);
  return median(warm.slice(-half)) - median(warm.slice(0, half));
}

function toFigures({ measured, samples, jobs }: Awaited<ReturnType<typeof soak>>) {
  const names = [...new Set(measured.flatMap(({ memory }) => [...memory.keys()]))];
  const memory = names.map((name) => {
    const values = measured.map((window) => window.memory.get(name) ?? 0);
    const base = median(values.slice(1)) || 1;
    const remark = `${values[1]?.toFixed(0)} to ${values.at(-1)?.toFixed(0)} MB`;
    return figure(`growth of ${name}`, (100 * growth(values)) / base, '%', {
      remark,
      atMost: 100 * maxGrowth,
    });
  });
  const times = measured.map((window) => window.p99);
  return [
    figure('requests', samples.length, ''),
    figure('refused, 5xx and lost', samples.filter((sample) => !isGood(sample)).length, '', { atMost: 0 }),
    figure('trainings meanwhile', jobs, '', { atLeast: 1 }),
    ...memory,
    figure('growth of p99', growth(times), 'ms', {
      remark: `median ${median(times).toFixed(1)} ms`,
      atMost: Math.max(jitter, maxGrowth * median(times)),
    }),
  ];
}

/** Ends with 0 just where all bounds were met. */
async function main(): Promise<number> {
  const { values } = readFlags(usage, {
    options: { minutes: { type: 'string', default: '30' }, rate: { type: 'string', default: '40' } },
  });
  const [minutes, perSecond] = [Number(values.minutes), Number(values.rate)];
  if (!(minutes > 0 && perSecond > 0)) throw new CommandError(`Both are numbers above 0.\n${usage}`);
  const folder = await mkdtemp(join(tmpdir(), 'mps-soak-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const service = await startService(folder, { ADMIN_PASSWORD: password });
  cleanup.defer(() => service.stop());
  const [load = 0] = loadavg();
  const soaked = await soak(service.url, service.pid, minutes, perSecond);
  const title = `Soak: ${perSecond} requests/s for ${minutes} minutes, one training after the other`;
  const group = {
    name: 'soak',
    title,
    figures: toFigures(soaked),
    failure: undefined,
    seconds: minutes * 60,
  };
  const place = `Node ${process.version}, ${availableParallelism()} CPUs, load before ${load.toFixed(1)}`;
  const tables = `${windowTable(soaked.measured)}\n${renderTable([group])}`;
  process.stdout.write(`\n${place}\n\n${tables}\n${summary([group])}\n`);
  return group.figures.some(({ bound }) => bound?.isMet === false) ? 1 : 0;
}

await runMain(main);
