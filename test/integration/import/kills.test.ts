import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRuns } from '../../../cli/import/import-runs.ts';
import { openSource, type Tracker } from '../../../cli/import/open-source.ts';
import type { RunSource } from '../../../cli/import/source.ts';
import { mlflowServer } from '../../../cli/import/sources/mlflow-server.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { sampled } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';
import { readAll } from './read-whole.ts';

const fixtures = join(import.meta.dirname, '../../fixtures/import');

let folder: string;
let url: string;
let cut: () => 'before' | 'after' | undefined = () => undefined;
let close: () => Promise<unknown>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kills-'));
  const service = await testService();
  const bridge = await mlflowBridge(service, await service.user('developer'), () => cut());
  ({ url, close } = bridge);
});
afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});

async function database(name: string): Promise<string> {
  const made = new DatabaseSync(join(folder, name), { enableForeignKeyConstraints: false });
  made.exec(await readFile(join(fixtures, `${name.replace(/^.*\/|\.db$/g, '')}.sql`), 'utf8'));
  made.close();
  return join(folder, name);
}

async function trackio(): Promise<string> {
  const top = join(folder, 'top');
  await mkdir(top, { recursive: true });
  await cp(join(fixtures, 'trackio-media'), join(top, 'media'), { recursive: true });
  await database('top/trackio.db');
  return top;
}

async function aim(): Promise<string> {
  if (realAim !== undefined) return realAim;
  await mkdir(join(folder, '.aim/meta/chunks/1d18'), { recursive: true });
  return folder;
}

const at = (name: string) => async () => join(fixtures, name);

/** A source of each tracker. Aim's package has a stand-in, unless IMPORT_AIM names a folder and the PATH has a Python with it. */
const sources: readonly (readonly [Tracker, () => Promise<string>])[] = [
  ['wandb', at('wandb-0.31.0')],
  ['neptune', at('neptune')],
  ['tensorboard', at('tensorboard')],
  ['mlflow', () => database('mlflow.db')],
  ['trackio', trackio],
  ['clearml', at('clearml.zip')],
  ['comet', at('comet.zip')],
  ['aim', aim],
];

const realAim = process.env['IMPORT_AIM'];
const env = {
  ...process.env,
  ...(realAim === undefined && { PYTHONPATH: join(fixtures, 'aim-stand-in') }),
};

/** Kills for each tracker. IMPORT_KILLS=100 is the figure of the import. */
const kills = Number(process.env['IMPORT_KILLS'] ?? 1);

/** What a source says of its runs, in an order of its own. */
async function contentOf(source: RunSource) {
  return [...(await readAll(source)).values()]
    .map(({ run, params, points, files }) => ({
      ...{ name: run.name, params, files: [...files.keys()].toSorted() },
      points: points
        .map(({ key, step, value, timestamp }) => `${key} ${step} ${value} ${timestamp}`)
        .toSorted(),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

test.each(sampled(sources, 3))(
  `an import from %s that is killed at ${kills} places comes whole, once`,
  async (tracker, made) => {
    const path = await made();
    const use = async <T>(act: (source: RunSource) => Promise<T>): Promise<T> => {
      const source = await openSource(tracker, path, path, env);
      try {
        return await act(source);
      } finally {
        await source.close?.();
      }
    };
    const bring = (project: string, signal?: AbortSignal) =>
      use((source) => {
        const into: RunSource = {
          ...source,
          async *experiments() {
            for await (const experiment of source.experiments())
              yield { ...experiment, name: project, isDeleted: false };
          },
        };
        const api = new TrackingApi(url, undefined, signal);
        return importRuns({ source: into, api, rename: (name) => name }, () => undefined);
      });
    const random = seededRandom(Number(process.env['SEED'] ?? 3));
    const there = await use((source) => contentOf(source));
    for (let kill = 0; kill < kills; kill += 1) {
      const project = `${tracker} ${kill}`;
      const ended = new AbortController();
      let calls = Math.floor(random() * 12) + 1;
      cut = () => {
        calls -= 1;
        if (calls > 0) return undefined;
        ended.abort();
        return random() < 0.5 ? 'before' : 'after';
      };
      await bring(project, ended.signal).catch(() => undefined);
      cut = () => undefined;

      const last = await bring(project);

      expect(last.failures).toEqual([]);
      const service = mlflowServer(new TrackingApi(url, undefined));
      const here = await contentOf({
        ...service,
        async *experiments() {
          for await (const experiment of service.experiments())
            if (experiment.name === project) yield experiment;
        },
      });
      expect(here.map(({ name }) => name)).toEqual(there.map(({ name }) => name));
      expect(here.map(({ points }) => points)).toEqual(there.map(({ points }) => points));
      for (const [index, { params, files }] of there.entries()) {
        expect(here[index]?.files).toEqual(files);
        expect(here[index]?.params).toMatchObject(params);
      }
    }
  },
);
