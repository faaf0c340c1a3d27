import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as trainProject } from '../../../functions/projects/training/train-project.endpoint.ts';
import { computePrices } from '../../../infra/aws/cost/price-list.ts';
import { readOptions } from '../../../infra/aws/options/deployment-options.ts';
import type { Capacity } from '../../../shared/core/capacity/capacity.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { actualCost } from '../../../shared/jobs/cost.ts';
import { spotAnswer } from '../../../shared/jobs/spot/spot.ts';
import { type Fate, runJob } from './container.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { World } from './world.ts';

/** What runs on Spot have cost and lost. */
export interface SpotFigure {
  capacity: Capacity;
  runs: number;
  ended: number;
  /** Most seconds of work that one lost host took, beside the seconds between two checkpoints. */
  mostLost: number;
  checkpointSeconds: number;
  /** Cost as a share of that on demand without a loss, by the number of interruptions. */
  shares: ReadonlyMap<number, { runs: number; mean: number; most: number }>;
}

const checkpointSeconds = 180;
const lossMinutes = 20;
/** vCPUs and MiB of each run. */
const size = { vcpus: '4', memory: '8192' };

/** Run trainings of 10 to 80 minutes on Spot that takes each host back after 20 minutes, in virtual time. */
export async function spotFigure(clock: VirtualClock, capacity: Capacity, runs: number): Promise<SpotFigure> {
  const left = new Map<string, number>();
  const whole = new Map<string, number>();
  let ended = 0;
  let mostLost = 0;
  const fate: Fate = {
    checkpointSeconds,
    workLeft: (id) => {
      const seconds = left.get(id) ?? 60 * Math.round(10 + 70 * Math.random());
      if (!whole.has(id)) whole.set(id, seconds);
      left.set(id, seconds);
      return seconds;
    },
    kept: (id, seconds) => left.set(id, (left.get(id) ?? 0) - seconds),
    lost: (_, seconds) => {
      mostLost = Math.max(mostLost, seconds);
    },
    isHostLost: ({ jobQueue }, startedAt) =>
      jobQueue === 'train-spot' && clock.now - startedAt >= lossMinutes * 60_000,
    ended: () => {
      ended += 1;
    },
  };
  const variables = {
    TRAIN_SPOT_QUEUE: 'train-spot',
    PRICES: JSON.stringify(computePrices(readOptions({}))),
    LIMIT_VCPUS: String(8 * runs),
    LIMIT_UNFINISHED_JOBS: String(runs),
  };
  const world = new World(clock, variables, (at, job) => void runJob(at, job, fate));
  const begun = begin(world, capacity, runs);
  let ids: string[] | undefined;
  void begun.then(({ experiments }) => {
    ids = experiments;
  });
  const last = clock.now + 86_400_000;
  while ((ids === undefined || ended < ids.length) && clock.now < last)
    await clock.runUntil(clock.now + 60_000);
  await clock.runUntil(clock.now + 60_000);
  const { project_id, experiments } = await begun;
  const byLosses = new Map<number, number[]>();
  const reading = experiments.map(async (experiment_id) => {
    const record = await requireExperiment(world.records, project_id, experiment_id);
    const interruptions = spotAnswer(record)?.interruptions ?? 0;
    const onDemand =
      ((record.estimates?.['on-demand'] ?? 0) * (whole.get(experiment_id) ?? 0)) / record.timeout;
    const share = (actualCost(record) ?? Number.NaN) / onDemand;
    byLosses.set(interruptions, [...(byLosses.get(interruptions) ?? []), share]);
  });
  const isRead = Promise.all(reading);
  let isDone = false;
  void isRead.then(() => {
    isDone = true;
  });
  while (!isDone) await clock.runUntil(clock.now + 1000);
  await isRead;
  const shares = new Map(
    [...byLosses]
      .sort(([one], [other]) => one - other)
      .map(([losses, all]) => [
        losses,
        {
          runs: all.length,
          mean: all.reduce((sum, one) => sum + one, 0) / all.length,
          most: Math.max(...all),
        },
      ]),
  );
  return { capacity, runs: experiments.length, ended, mostLost, checkpointSeconds, shares };
}

async function begin(world: World, capacity: Capacity, runs: number) {
  const as = await world.member('developer', 0);
  const query = {
    'project-name': 'digits',
    'project-description': 'Reads digits',
    'project-type': 'vision',
    'project-task': 'classification',
  };
  const { project_id }: { project_id: string } = JSON.parse(
    (await world.ask({ endpoint: createProject, as, query })).body,
  );
  const path = { project_id };
  await world.ask({
    endpoint: putConfig,
    as,
    path: { ...path, config_id: 'train.yaml' },
    body: 'epochs: 3\n',
  });
  const environment = { entry_point_command: 'python train.py', env_type: 'python', dependencies: 'numpy' };
  await world.ask({ endpoint: putEnvironment, as, path, query: environment });
  const experiments: string[] = [];
  for (let run = 0; run < runs; run += 1) {
    const training = { config: 'train.yaml', ...size, capacity };
    const { body } = await world.ask({ endpoint: trainProject, as, path, query: training });
    experiments.push(JSON.parse(body).experiment_id);
  }
  return { project_id, experiments };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Return a figure as a table in Markdown. */
export function spotTable(figures: readonly SpotFigure[]): string {
  const rows = figures.flatMap(({ capacity, runs, ended, mostLost, checkpointSeconds: between, shares }) =>
    [...shares].map(
      ([losses, { runs: count, mean, most }]) =>
        `| ${capacity} | ${ended} of ${runs} | ${mostLost} of ${between} s | ${losses} | ${count} | ${percent(mean)} | ${percent(most)} |\n`,
    ),
  );
  return `| capacity | ended | most work that a loss took | interruptions | runs | cost beside on demand, mean | most |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('')}`;
}
