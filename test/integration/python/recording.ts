import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { testService } from '../../support/service.ts';
import { mlflowBridge } from '../import/mlflow-bridge.ts';

const source = join(import.meta.dirname, '../../../python');

/** A service behind a port, and a folder in which programs of Python record to it. */
export async function recordingService() {
  const service = await testService();
  const as = await service.user('developer');
  let cut: () => 'before' | 'after' | undefined = () => undefined;
  const bridge = await mlflowBridge(service, as, () => cut());
  const folder = await mkdtemp(join(tmpdir(), 'recording-'));
  const home = join(folder, 'home');
  await mkdir(home);

  /** Start a program in the folder. */
  async function start(script: string, env: Readonly<Record<string, string>> = {}) {
    const file = join(folder, 'train.py');
    await writeFile(file, script);
    const child = spawn('python3', [file], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        PYTHONPATH: source,
        PYTHONDONTWRITEBYTECODE: '1',
        MPS_URL: bridge.url,
        MPS_TOKEN: 'token',
        ...env,
      },
    });
    const printed = Promise.all([text(child.stdout), text(child.stderr)]);
    const ended = once(child, 'close').then(async () => {
      const [stdout, stderr] = await printed;
      return { code: child.exitCode, stdout, stderr };
    });
    return { child, ended };
  }

  /** All rows of a list. */
  async function rows(endpoint: AnyEndpoint, path: Record<string, string>, first: Record<string, string>) {
    const found = [];
    let query: string | undefined = new URLSearchParams(first).toString();
    while (query !== undefined) {
      const page = await service.call(endpoint, { path, query, as });
      found.push(...page.json);
      query = /<[^>]*\?([^>]*)>; rel="next"/.exec(page.headers['link'] ?? '')?.[1];
    }
    return found;
  }

  /** The runs of the only project. */
  async function runs() {
    const [project] = (await service.call(listProjects, { as })).json;
    return project === undefined ? [] : rows(listExperiments, { project_id: project.project_id }, {});
  }

  /** Steps of the points of a metric of a run, in their order. */
  async function steps(run: { project_id: string; experiment_id: string }, name: string): Promise<number[]> {
    const { project_id, experiment_id } = run;
    const points = await rows(readMetrics, { project_id, experiment_id }, { name, limit: '1000' });
    return points.map(({ step }) => step);
  }

  return {
    service,
    as,
    bridge,
    folder,
    start,
    run: async (script: string, env?: Readonly<Record<string, string>>) => (await start(script, env)).ended,
    runs,
    steps,
    /** Folders of runs that are not sent. */
    left: () => readdir(join(folder, '.mps/offline')).catch(() => []),
    cut(decide: () => 'before' | 'after' | undefined = () => undefined) {
      cut = decide;
    },
    async close() {
      await bridge.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type RecordingService = Awaited<ReturnType<typeof recordingService>>;
