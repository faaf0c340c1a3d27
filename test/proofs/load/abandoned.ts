// Others while a viewer asks for charts of a long run and leaves: `npm run proof -- abandoned`. Not for a busy machine.

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { type Figure, figure, percentile } from '../bench/figure.ts';
import { type MeasuredGroup, renderTable, summary } from '../bench/figure-table.ts';
import { startService } from '../bench/service-process.ts';
import { logCurve } from '../bench/tracking/operations.ts';
import { newExperiment, newRun, type Peer } from '../bench/tracking/peer.ts';
import { Sender } from './send.ts';

const password = 'password of the load test';
const usage = `Usage: npm run proof -- abandoned [--points <points>]
  --points  of the run whose chart is asked for (1000000)`;

/** How many charts are asked for and left, one round after the other. */
const rounds = [20, 40];
/** How long a client of a chart stays. */
const stayMilliseconds = 500;
/** Others are watched from the first request of a round on. */
const watchMilliseconds = 60_000;
const pauseMilliseconds = 100;
/** The longest that others may wait for one project. */
const maxMilliseconds = 1_000;

type Headers = Readonly<Record<string, string>>;

/** A viewer who is a member of the project. */
async function newViewer(sender: Sender, admin: Headers, project: string): Promise<Headers> {
  const user = { username: 'viewer', password, account_type: 'viewer' };
  const json = { ...admin, 'Content-Type': 'application/json' };
  const made = { what: 'POST user', method: 'POST', path: '/users/', headers: json };
  await sender.require({ ...made, body: JSON.stringify(user) });
  const path = `/projects/${project}/members/viewer?role=viewer`;
  await sender.require({ what: 'PUT member', method: 'PUT', path, headers: admin });
  const signIn = {
    what: 'POST token',
    method: 'POST',
    path: '/auth/token',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'password', username: 'viewer', password }).toString(),
  };
  const { access_token } = JSON.parse(await sender.require(signIn));
  return { Authorization: `Bearer ${access_token}` };
}

/** Asks for a chart and hangs up before it comes. */
async function abandon(url: string, path: string, headers: Headers): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  const lines = Object.entries({ Host: `${hostname}:${port}`, Accept: 'image/svg+xml', ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`);
  await sleep(stayMilliseconds);
  socket.destroy();
}

/** Milliseconds of each GET of one project, one after the other. */
async function watch(sender: Sender, path: string, headers: Headers, milliseconds: number) {
  const took: number[] = [];
  let failed = 0;
  for (const until = performance.now() + milliseconds; performance.now() < until; ) {
    const begun = performance.now();
    const { status } = await sender.send({ what: 'GET project', method: 'GET', path, headers });
    took.push(performance.now() - begun);
    if (status !== 200) failed += 1;
    await sleep(pauseMilliseconds);
  }
  return { took, failed };
}

function figuresOf({ took, failed }: Awaited<ReturnType<typeof watch>>): Figure[] {
  return [
    figure('GET one project by another user', took.length, ''),
    figure('median', percentile(took, 0.5), 'ms'),
    figure('p99', percentile(took, 0.99), 'ms'),
    figure('longest', Math.max(...took), 'ms', { atMost: maxMilliseconds }),
    figure('longer than 250 ms', took.filter((one) => one > 250).length, ''),
    figure('failed', failed, '', { atMost: 0 }),
  ];
}

/** Ends with 0 just where all bounds were met. */
async function main(): Promise<number> {
  const { values } = readFlags(usage, { options: { points: { type: 'string', default: '1000000' } } });
  const points = Number(values.points);
  if (!Number.isInteger(points) || points < 1000) throw new CommandError(usage);
  const folder = await mkdtemp(join(tmpdir(), 'mps-abandoned-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const service = await startService(folder);
  cleanup.defer(() => service.stop());
  const [before = 0] = loadavg();

  const admin = { Authorization: `Bearer ${(await service.signIn()).token}` };
  const peer: Peer = { name: 'service', url: `${service.url}/mlflow`, headers: admin, pid: service.pid };
  const run = await newRun(peer, await newExperiment(peer, 'long'));
  const [project = '', experiment = ''] = run.split('-');
  process.stderr.write(`logging ${points} points\n`);
  await logCurve(peer, run, points);
  const sender = new Sender(service.url);
  cleanup.defer(() => sender.close());
  const viewer = await newViewer(sender, admin, project);
  const chart = `/projects/${project}/experiments/${experiment}/metrics`;

  const quiet = await watch(sender, `/projects/${project}`, admin, 5_000);
  const groups: MeasuredGroup[] = [group('Nobody asks for charts', 5_000, figuresOf(quiet))];
  for (const count of rounds) {
    process.stderr.write(`${count} charts\n`);
    const watching = watch(sender, `/projects/${project}`, admin, watchMilliseconds);
    await Promise.all(Array.from({ length: count }, () => abandon(service.url, chart, viewer)));
    groups.push(group(`${count} charts of the run, abandoned`, watchMilliseconds, figuresOf(await watching)));
  }
  const begun = performance.now();
  const whole = { what: 'GET chart', method: 'GET', path: chart };
  const svg = await sender.require({ ...whole, headers: { ...viewer, Accept: 'image/svg+xml' } });
  groups.push(
    group('One chart that is waited for', 0, [
      figure('seconds', (performance.now() - begun) / 1000, 's', { atMost: 29 }),
      figure('bytes', svg.length, ''),
    ]),
  );
  const place = `Node ${process.version}, ${availableParallelism()} CPUs, load before ${before.toFixed(1)}`;
  process.stdout.write(`\n${place}\n\n${renderTable(groups)}\n${summary(groups)}\n`);
  return groups.some(({ figures }) => figures.some(({ bound }) => bound?.isMet === false)) ? 1 : 0;
}

const group = (title: string, milliseconds: number, figures: Figure[]): MeasuredGroup => ({
  name: title,
  title,
  figures,
  failure: undefined,
  seconds: milliseconds / 1000,
});

await runMain(main);
