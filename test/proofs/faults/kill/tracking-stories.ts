import { isoTime } from '../../../../shared/core/formats.ts';
import { findExperiment, listExperiments } from '../../../../shared/data/experiments/experiment.ts';
import { searchExperiments } from '../../../../shared/data/experiments/search-experiments.ts';
import { readTracking } from '../../../../shared/data/experiments/tracking.ts';
import type { MetricPoint } from '../../../../shared/data/metrics/metric-summary.ts';
import type { Service } from '../world/service.ts';
import { everyPoint } from './every-point.ts';
import { endedIn, experimentIn, pointsIn, projectOf, timeOf } from './recorded.ts';
import { asking, mlflowCall, type Story, told, unless } from './request-story.ts';

type Path = { project_id: string; experiment_id: string };

/** What differs of an experiment's points, read by metric: of blocks and what came after them. */
async function pointFaults({ records }: Service, { experiment_id }: Path, expected: readonly MetricPoint[]) {
  const faults: string[] = [];
  for (const name of ['loss', 'auc']) {
    const found: MetricPoint[] = [];
    for await (const points of everyPoint(records, experiment_id, { names: [name] })) found.push(...points);
    faults.push(
      ...unless(
        `points of ${name}`,
        found,
        expected.filter((point) => point.name === name),
      ),
    );
  }
  return faults;
}

async function fieldFaults({ records }: Service, { project_id, experiment_id }: Path, expected: object) {
  const { fields } = await readTracking(records, project_id, experiment_id);
  return unless('fields', { params: fields?.params, tags: fields?.tags }, expected);
}

/** Has the time go by after which the holder of an Idempotency-Key counts as dead. */
async function giveUpKeys({ records, inventory }: Service): Promise<void> {
  for (const { pk, sk } of (await inventory()).records)
    if (pk.startsWith('IDEMPOTENCY#'))
      await records.write({ update: { pk, sk }, change: { set: { lease_until: 0 } } });
}

/** What a search finds differs from the ids. */
async function searchFaults({ records }: Service, project_id: string, ids: readonly string[]) {
  const { writable: _, ...reader } = records;
  const { rows } = await searchExperiments(reader, [project_id], {});
  return unless('found', rows.map(({ experiment_id }) => experiment_id).sort(), ids.toSorted());
}

/** Logs the points after which 64 more chunks become blocks. */
const blocksStory = (name: string, inBlocks: number): Story => ({
  name,
  async prepare(ground) {
    const { service, token } = ground;
    const { path } = await experimentIn(ground);
    const points = await pointsIn(service, path, 0, inBlocks + 63);
    const metrics = [0, 1, 2, 3].map((at) => {
      const step = points.length + at;
      return { name: at % 2 === 0 ? 'loss' : 'auc', value: at / 8, step, time: timeOf(step) };
    });
    points.push(...metrics);
    return {
      deed: {
        request: asking(
          'logMetrics',
          { path, token },
          { metrics: metrics.map((one) => ({ ...one, time: isoTime(one.time) })) },
        ),
      },
      faults: () => pointFaults(service, path, points),
    };
  },
});

export const trackingStories: readonly Story[] = [
  {
    name: 'an experiment is recorded',
    async prepare(ground) {
      const { service, token } = ground;
      const project_id = await projectOf(ground);
      const body = { name: 'once', params: { lr: '0.1' }, tags: { team: 'vision' } };
      const headers = { 'Idempotency-Key': 'the key of a story' };
      const asked = asking('createExperiment', { path: { project_id }, headers, token }, body);
      return {
        deed: { request: asked },
        // Whoever has the key may still be alive.
        alsoAnswers: [409],
        async faults() {
          await giveUpKeys(service);
          await told(ground, asked);
          const { items } = await listExperiments(service.records, project_id, {});
          const [one, ...others] = items;
          if (one === undefined || others.length > 0) return [`lost: ${items.length} were made`];
          const { params, tags } = body;
          return [
            ...(await fieldFaults(service, one, { params, tags })),
            ...(await searchFaults(service, project_id, [one.experiment_id])),
          ];
        },
      };
    },
  },
  {
    name: 'an MLflow experiment is made',
    async prepare(ground) {
      const asked = mlflowCall(ground, 'POST', 'mlflow/experiments/create', { name: 'named' });
      return {
        deed: { request: asked },
        // It is there.
        alsoAnswers: [400],
        async faults() {
          const found = await Promise.all(
            ['PROJECTS', `OWNED#${ground.user.user_id}`].map(async (pk) => {
              const { items } = await ground.service.records.query({ pk });
              return items.length;
            }),
          );
          return unless('projects, and those of the caller', found, [1, 1]);
        },
      };
    },
  },
  {
    name: 'a batch is logged',
    async prepare(ground) {
      const { service } = ground;
      const { path, run_id } = await experimentIn(ground);
      const points = await pointsIn(service, path, 0, 63);
      const [step, time] = [500, timeOf(500)];
      const body = {
        run_id,
        params: [{ key: 'depth', value: '7' }],
        tags: [{ key: 'team', value: 'vision' }],
        metrics: [{ key: 'loss', value: 0.25, step, timestamp: time }],
      };
      points.push({ name: 'loss', value: 0.25, step, time });
      return {
        deed: { request: mlflowCall(ground, 'POST', 'mlflow/runs/log-batch', body) },
        async faults() {
          const { metrics } = await readTracking(service.records, path.project_id, path.experiment_id);
          return [
            ...(await pointFaults(service, path, points)),
            ...(await fieldFaults(service, path, { params: { depth: '7' }, tags: { team: 'vision' } })),
            ...unless('the last value', metrics.get('loss')?.last, 0.25),
          ];
        },
      };
    },
  },
  blocksStory('points become blocks', 0),
  blocksStory('points become blocks again', 64),
  {
    name: 'an experiment ends',
    async prepare(ground) {
      const { service, token } = ground;
      const { path } = await experimentIn(ground);
      const asked = asking(
        'updateExperiment',
        { path, token },
        { status: 'SUCCEEDED', tags: { done: 'yes' } },
      );
      return {
        deed: { request: asked },
        async faults() {
          const found = await findExperiment(service.records, path.project_id, path.experiment_id);
          return [
            ...unless('status', found?.status, 'SUCCEEDED'),
            ...(await fieldFaults(service, path, { params: {}, tags: { done: 'yes' } })),
            ...(await searchFaults(service, path.project_id, [path.experiment_id])),
          ];
        },
      };
    },
  },
  {
    name: 'a search folds the catalogue',
    async prepare(ground) {
      const { service, token } = ground;
      const project_id = await projectOf(ground);
      const ids = await endedIn(service, project_id, 70, 70);
      const query = { filter: "status = 'SUCCEEDED'", limit: '5' };
      return {
        deed: { request: asking('listExperiments', { path: { project_id }, query, token }) },
        faults: () => searchFaults(service, project_id, ids),
      };
    },
  },
  {
    name: 'a folded experiment is deleted',
    async prepare(ground) {
      const { service, token } = ground;
      const project_id = await projectOf(ground);
      const ids = await endedIn(service, project_id, 2, 5);
      const [experiment_id = '', ...others] = ids;
      return {
        deed: { request: asking('deleteExperiment', { path: { project_id, experiment_id }, token }) },
        alsoAnswers: [404],
        faults: () => searchFaults(service, project_id, others),
      };
    },
  },
];
