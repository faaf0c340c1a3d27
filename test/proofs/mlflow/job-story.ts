import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { startMps } from '../../support/mps.ts';

interface StoryService {
  url: string;
  token: string;
}

interface Found {
  kind: string;
  project_id: string;
  experiment_id: string;
  status: string;
  params: Record<string, string>;
  metrics: Record<string, { last: number; count: number }>;
}

const here = import.meta.dirname;

async function read<T>({ url, token }: StoryService, path: string): Promise<T> {
  const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new CommandError(`GET ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

function require(condition: boolean, what: string, found: unknown): void {
  if (!condition) throw new CommandError(`${what}: ${JSON.stringify(found, null, 1)}`);
}

/**
 * The same script by hand and as a job, unchanged; one search finds both.
 * @param byHand runs the script with the client's own Python
 */
export async function tellJobStory(
  folder: string,
  packages: readonly string[],
  service: StoryService,
  byHand: (script: string) => Promise<void>,
): Promise<void> {
  const home = join(folder, 'home');
  const project = join(folder, 'story-as-a-job');
  await mkdir(home, { recursive: true });
  await mkdir(project);
  await copyFile(join(here, 'train.py'), join(project, 'train.py'));
  await writeFile(join(project, 'requirements.txt'), `${packages.join('\n')}\n`);

  await byHand(join(project, 'train.py'));
  const began = performance.now();
  const { ended } = startMps(['run', '--', 'python', 'train.py'], {
    ...{ folder: project, home },
    environment: { MPS_URL: service.url, MPS_TOKEN: service.token },
  });
  const { code, stdout, stderr } = await ended;
  require(code === 0, 'mps run failed', { stdout, stderr });

  const filter = encodeURIComponent("params.max_iter = '321' AND metrics.loss <= 0.2");
  const found = await read<Found[]>(service, `/experiments?filter=${filter}`);
  const kinds = found.map(({ kind, status }) => `${kind} ${status}`).sort();
  require(kinds.join() === 'logged SUCCEEDED,train SUCCEEDED', 'One search finds both', found);
  const trained = found.find(({ kind }) => kind === 'train');
  require(trained?.metrics['loss']?.count === 5, 'The job has every point', trained);
  const path = `/projects/${trained?.project_id}/experiments/${trained?.experiment_id}`;
  const artifacts = await read<{ path: string }[]>(service, `${path}/artifacts`);
  const paths = artifacts.map((one) => one.path);
  require(paths.includes('notes/hello.txt'), 'The job has its artifacts', paths);
  require(paths.some((one) => one.endsWith('/MLmodel')), 'The job has the model that it logged', paths);
  const children = await read<Found[]>(
    service,
    `/experiments?project_id=${trained?.project_id}&filter=${encodeURIComponent("kind = 'logged'")}`,
  );
  require(children.length === 3, 'The search of the job has a run, and one for each candidate', children);
  require(children.every(({ status }) => status === 'SUCCEEDED'), 'They have ended', children);
  console.info(`  by hand and as a job: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
