import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { figure, percentile } from './figure.ts';
import type { Bench, Group } from './group.ts';
import { compare, type Target, warmUp } from './load.ts';
import { startService } from './service-process.ts';
import { type Experiment, TrainingProject } from './training-project.ts';

const allWaitingJobs = 1000;
/** Jobs that run at once. */
const places = 2;
/** Jobs that are started from the line. */
const started = 40;
const blocks = { turns: 7, seconds: 2 };
const warmSeconds = 4;
const pollMilliseconds = 1000;

/** A program that takes as many seconds as its configuration says. */
const training = {
  command: 'sh run.sh {config}',
  files: { 'run.sh': 'sleep "$(sed -n \'s/^seconds: //p\' "$1")"\n' },
};

type Row = Pick<Experiment, 'experiment_id' | 'begun_at' | 'stopped_at'>;

/** A service whose places are all taken by jobs that sleep. */
async function busyService({ folder, started: running }: Bench, name: string) {
  const variables = { LIMIT_UNFINISHED_JOBS: String(places) };
  const service = await startService(join(folder, name), variables);
  running.defer(() => service.stop());
  const { client, token } = await service.signIn();
  const project = await TrainingProject.create(client, training);
  const take = (seconds: number) => project.configure(`seconds: ${seconds}\n`);
  await take(3600);
  const sleepers: Experiment[] = [];
  for (let count = 0; count < places; count += 1) sleepers.push(await project.train());
  await take(0);
  const headers = { Authorization: `Bearer ${token}` };
  const target: Target = { method: 'GET', headers, url: `${service.url}/projects/${project.project_id}` };
  return { client, project, sleepers, target };
}

/** End the jobs that sleep, and wait until so many have started from the line. Return all, in the order of their creation. */
async function startFromLine(
  { client, project, sleepers }: Awaited<ReturnType<typeof busyService>>,
  last: Experiment,
): Promise<Row[]> {
  const { project_id } = project;
  const cancelRoute = 'POST /projects/{project_id}/experiments/{experiment_id}/cancel';
  for (const { experiment_id } of sleepers)
    await client.call<typeof cancelExperiment>(cancelRoute, { path: { project_id, experiment_id } });
  while ((await project.read(last)).begun_at === null) await sleep(pollMilliseconds);
  const rows = await client.call<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query: { limit: 1000 },
  });
  const first = await Promise.all(sleepers.map((experiment) => project.read(experiment)));
  const known = new Map<string, Row>([...rows, ...first].map((row) => [row.experiment_id, row]));
  return [...known.values()].toSorted((one, other) => (one.experiment_id < other.experiment_id ? -1 : 1));
}

/** Seconds from each end of a job to the start that it made room for. */
function delays(rows: readonly Row[]): number[] {
  const times = (texts: readonly (string | null)[]) =>
    texts.flatMap((text) => (text === null ? [] : [Date.parse(text)])).toSorted((one, other) => one - other);
  const ends = times(rows.map(({ stopped_at }) => stopped_at));
  const starts = times(rows.map(({ begun_at }) => begun_at));
  return starts.map((start, index) => (start - (ends[index] ?? Number.NaN)) / 1000);
}

/** A thousand jobs that wait: what they cost a request, and how they start. */
export const queue: Group = {
  name: 'queue',
  title: 'Queue: jobs that wait in line',

  async measure(bench) {
    const [full, empty] = [await busyService(bench, 'full'), await busyService(bench, 'empty')];
    const waitingJobs = bench.small ? allWaitingJobs / 10 : allWaitingJobs;
    const begun = performance.now();
    const line: Experiment[] = [];
    for (let count = 0; count < waitingJobs; count += 1) line.push(await full.project.train());
    const each = (performance.now() - begun) / waitingJobs;
    bench.say(`${waitingJobs} jobs wait`);
    const targets = { first: full.target, second: empty.target };
    await warmUp(targets, warmSeconds);
    const found = await compare(targets, 1, blocks);
    const last = line[started - 1];
    if (last === undefined) throw new Error('too few jobs');
    const rows = await startFromLine(full, last);
    const waited = delays(rows);
    const order = rows.flatMap(({ begun_at }) => (begun_at === null ? [] : [begun_at]));
    const overtaken = order.filter((begun_at, index) => index > 0 && begun_at < (order[index - 1] ?? ''));
    const { project_id } = full.project;
    await full.client.call<typeof deleteProject>('DELETE /projects/{project_id}', { path: { project_id } });
    const milliseconds = (value: number) => `${value.toFixed(2)} ms`;
    return [
      figure('GET one project, with the line over without: p50', found.ratio.p50, '×', {
        atMost: 1.1,
        remark: `${milliseconds(found.first.p50)} : ${milliseconds(found.second.p50)}`,
      }),
      figure('GET one project, with the line over without: p99', found.ratio.p99, '×', {
        remark: `${milliseconds(found.first.p99)} : ${milliseconds(found.second.p99)}`,
      }),
      figure('a training that joins the line', each, 'ms'),
      figure('from the end of a job to the next start, longest', Math.max(...waited), 's', {
        atMost: 1,
        remark: `${waited.length} starts, median ${percentile(waited, 0.5).toFixed(2)} s`,
      }),
      figure('starts out of order', overtaken.length, '', { atMost: 0 }),
    ];
  },
};
