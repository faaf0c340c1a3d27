import { join } from 'node:path';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { type Figure, figure } from '../bench/figure.ts';
import { Injector } from './injection/middleware.ts';
import { startLane } from './kill/lane.ts';
import { askAround } from './outage/acknowledged.ts';
import { type Settled, startTrial, type Trial } from './outage/trial.ts';
import type { Proof, ProofContext } from './proof.ts';
import { ask } from './world/ask.ts';
import { buildProgram } from './world/build-program.ts';
import { startStores } from './world/engines.ts';
import { pass } from './world/pass.ts';

/** For so many seconds so large a share of all calls fails. */
const sizes = {
  short: { outages: [{ rate: 0.5, seconds: 1 }], clients: 2, times: 4, trainings: 4 },
  long: {
    outages: [
      { rate: 0.1, seconds: 30 },
      { rate: 0.5, seconds: 20 },
      { rate: 1, seconds: 10 },
    ],
    clients: 4,
    times: 40,
    trainings: 5,
  },
};
/** Time before an outage in which jobs are accepted and begin. */
const calmMs = 2000;

const refusals = ({ acknowledged }: Trial): [number, number] => {
  const of = (fits: (status: number) => boolean) =>
    [...acknowledged.statuses].reduce((sum, [status, count]) => sum + (fits(status) ? count : 0), 0);
  return [of((status) => status === 503), of((status) => status >= 300 && status !== 503)];
};

function figuresOf(title: string, trial: Trial, { ends, faults }: Settled): Figure[] {
  const { projects, configs, experiments } = trial.acknowledged;
  const of = (kind: string) => faults.filter((fault) => fault.startsWith(kind)).length;
  const writes = projects.length + configs.size + experiments.length;
  const [unavailable, others] = refusals(trial);
  const ended = [...ends].map(([status, count]) => `${count} ${status}`).join(', ');
  return [
    figure(`${title}: acknowledged writes`, writes, '', { remark: `${unavailable} answered 503` }),
    figure(`${title}: of them lost`, of('lost'), '', { atMost: 0 }),
    figure(`${title}: refusals other than 503`, others, '', { atMost: 0 }),
    figure(`${title}: accepted jobs`, experiments.length, '', { remark: ended }),
    figure(`${title}: jobs without an end`, of('stale'), '', { atMost: 0 }),
    figure(`${title}: ends that not one process alone wrote`, of('writers'), '', { atMost: 0 }),
    figure(`${title}: commands that ran twice or never`, of('twice') + of('never'), '', { atMost: 0 }),
    figure(
      `${title}: orphans, unnamed objects, counts that do not agree`,
      of('orphan') + of('unnamed') + of('count'),
      '',
      {
        atMost: 0,
      },
    ),
  ];
}

/** Batch does not answer for ten minutes of the service's clock; jobs that run meanwhile report to the tables. */
async function batchAway(trial: Trial, say: ProofContext['say'], jobs: number): Promise<Figure[]> {
  const client = { ...trial };
  await askAround(client, { clients: jobs, times: 1, trainings: 1, until: 0 });
  trial.disturb({ seed: 1, rate: 1, services: ['batch'] });
  await askAround(client, { clients: jobs, times: 1, trainings: 1, until: 0 });
  let failed = 0;
  for (let seconds = 60; seconds <= 600; seconds += 60)
    await pass(trial.service, seconds).catch(() => {
      failed += 1;
    });
  const { environment } = trial.service;
  const reads = await Promise.all(
    trial.acknowledged.experiments.map((experiment_id) =>
      ask(readExperiment, environment, {
        path: { project_id: trial.project_id, experiment_id },
        token: trial.token,
      }),
    ),
  );
  const created = (await trial.experiments()).filter(({ status }) => status === 'CREATED').length;
  trial.disturb(undefined);
  const settled = await trial.settle();
  for (const fault of settled.faults) say(fault);
  return [
    figure('Batch away: passes that failed meanwhile', failed, '', { remark: 'of 10, a minute apart' }),
    figure('Batch away: jobs accepted that waited for it', created, ''),
    figure('Batch away: reads that failed', reads.filter(({ status }) => status !== 200).length, '', {
      atMost: 0,
    }),
    ...figuresOf('Batch away', trial, settled),
  ];
}

async function prove(context: ProofContext) {
  const { folder, started, size, seeds: [seed = 1] = [], say } = context;
  const { outages, ...load } = sizes[size];
  const injector = new Injector({});
  injector.install();
  started.defer(() => injector.use({}));
  const engines = await startStores(started, join(folder, 'engines'));
  const program = await buildProgram(context);
  const lane = await startLane(started, { folder: join(folder, 'lane'), engines, program });
  const figures: Figure[] = [];
  for (const { rate, seconds } of outages) {
    const trial = await startTrial(started, lane, injector, 1);
    // What runs by then, and what is asked for then, is disturbed alike.
    const from = Date.now() + calmMs;
    const until = from + seconds * 1000;
    trial.disturb({ seed, rate, from, until });
    await askAround(trial, { ...load, until });
    trial.disturb(undefined);
    const settled = await trial.settle();
    for (const fault of settled.faults) say(fault);
    say(`${rate * 100} %: ${JSON.stringify([...trial.acknowledged.statuses])}`);
    figures.push(...figuresOf(`${rate * 100} % for ${seconds} s`, trial, settled));
  }
  const trial = await startTrial(started, lane, injector, 0.5);
  figures.push(...(await batchAway(trial, say, size === 'long' ? 8 : 2)));
  return figures;
}

export const proof: Proof = {
  name: 'outages',
  title: 'Throttling, 500s, timeouts, lost replies; Batch away for 10 simulated minutes',
  prove,
};
