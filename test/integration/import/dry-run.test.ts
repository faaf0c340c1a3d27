import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { countRuns } from '../../../cli/import/count-runs.ts';
import { importRuns } from '../../../cli/import/import-runs.ts';
import type { RunSource, SourceRun } from '../../../cli/import/source.ts';
import { mlflowServer } from '../../../cli/import/sources/mlflow-server.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';
import { readAll, valuesOf } from './read-whole.ts';

async function tracking(): Promise<TrackingApi> {
  const service = await testService();
  const bridge = await mlflowBridge(service, await service.user('developer'));
  onTestFinished(async () => {
    await bridge.close();
  });
  return new TrackingApi(bridge.url, undefined);
}

const run = (id: string, given: Partial<SourceRun>): SourceRun => ({
  ...{ id, name: id, status: 'FINISHED', user: '', start: 1_700_000_000_000, end: undefined },
  ...{ isDeleted: false, params: [], tags: [], datasets: [], artifactUri: '', state: 'whole' },
  ...given,
});

const point = (key: string, value: number, step = 0) => ({ key, value, step, timestamp: 1_700_000_000_000 });

/** Two runs with everything that this service takes in another form, or not at all. */
const odd = (): RunSource => ({
  async *experiments() {
    yield { id: '1', name: 'p'.repeat(600), tags: [{ key: '?', value: '' }], isDeleted: false };
  },
  async *runs() {
    const pairs = ['a', 'b', 'x'.repeat(9000)].map((value) => ({ key: 'lr?', value }));
    yield run('first', { params: pairs, tags: [{ key: 'mlflow.parentRunId', value: 'elsewhere' }] });
    yield run('second', { start: -1, tags: [{ key: 'mlflow.parentRunId', value: 'first' }] });
  },
  async *points({ id }) {
    yield [
      point('a?', 1),
      point('a_', -0),
      point('a?', Number.NaN, 0.5),
      { ...point('b', 1), timestamp: -1 },
    ];
    if (id === 'second') throw new Error('it is damaged');
  },
  async *files() {
    yield { path: 'a/../b', size: 1 };
  },
  openFile: async () => Readable.from(['x']),
  async *models() {
    const facts = { description: '', runLink: '', stage: 'None', tags: [] };
    const versions = [{ ...facts, number: 1, source: '/elsewhere', runId: 'first' }];
    yield { name: 'net', description: '', tags: [], aliases: [], versions };
  },
  omitted: () => new Map([['records that are damaged', 2]]),
  unread: () => ['a file: it is empty'],
});

test('a dry run counts and says what an import does', async () => {
  const api = await tracking();
  const rename = (name: string) => (name === 'b' ? 'c?' : name);

  const counted = await countRuns({ source: odd(), rename }, () => undefined);
  const imported = await importRuns({ source: odd(), rename, api }, () => undefined);

  expect(imported.failures).toContainEqual(expect.stringContaining('it is damaged'));
  expect(imported.omitted).toMatchObject({ 'name c?: it is c_ here': 2 });
  expect(counted).toEqual(imported);
});

test('every number of any tracker keeps its sign and its kind', async () => {
  const api = await tracking();
  const values = [-0, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53, 5e-324];
  const source: RunSource = {
    ...odd(),
    async *runs() {
      yield run('first', {});
    },
    async *points() {
      yield values.map((value, step) => point('a', value, step));
    },
  };

  await importRuns({ source, rename: (name) => name, api }, () => undefined);

  const here = (await readAll(mlflowServer(api))).get('first');
  const found = valuesOf(here?.points ?? [], 'a').map(([, value]) => Number(value));
  expect(found.toSorted()).toEqual(values.toSorted());
  expect(found.some((value) => Object.is(value, -0))).toBe(true);
});
