import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { countText, valueText } from '../../shared/svg/number-text.ts';
import { CommandError } from '../command/command-error.ts';
import type { DemoExperiment } from './demo-experiment.ts';
import { configId } from './demo-project.ts';
import type { Screen } from './screen.ts';
import { pathOf, type ServiceClient } from './service-client.ts';
import { shortPath } from './short-path.ts';
import { sparkline } from './sparkline.ts';

const modelPath = 'digits.onnx';
const sparklineWidth = 40;

const Point = z.object({ name: z.string(), value: z.number() });
const Artifact = z.object({ path: z.string(), size: z.number(), sha256: z.string() });

interface Result {
  client: ServiceClient;
  screen: Screen;
  project_id: string;
  experiment: DemoExperiment;
  /** Where what the demo shows is saved. */
  folder: string;
}

function cacheText({ environment_cache, saved_seconds }: DemoExperiment): string {
  if (environment_cache === 'hit')
    return `from the cache (hit): ${saved_seconds ?? 0} s of installation saved`;
  return environment_cache === 'miss'
    ? 'installed and cached (miss): the next run takes it from the cache'
    : 'none';
}

function showExperiment({ screen, experiment }: Result): void {
  const { experiment_id, status, duration, nodes, best, lock_hash } = experiment;
  screen.heading(`Experiment ${experiment_id}`);
  screen.fact('status', status);
  screen.fact(
    'duration',
    `${(duration ?? 0).toFixed(1)} s on ${nodes === 1 ? 'one node' : `${nodes} nodes`}`,
  );
  screen.fact('environment', cacheText(experiment));
  if (lock_hash !== null) screen.fact('lock hash', lock_hash);
  if (best !== null)
    screen.fact(
      'best',
      `${best.criterion} ${valueText(best.value)}${best.step === null ? '' : ` at step ${best.step}`}`,
    );
}

async function save({ folder }: Result, name: string, bytes: string | Uint8Array): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, name);
  await writeFile(file, bytes);
  return shortPath(file);
}

async function showMetrics(result: Result, experiment: string): Promise<void> {
  const { client, screen } = result;
  const points = await client.json(z.array(Point), 'GET', `${experiment}/metrics`);
  screen.heading('Metrics');
  for (const [name, of] of Map.groupBy(points, (point) => point.name)) {
    const values = of.map(({ value }) => value);
    const ends = [values[0] ?? 0, values.at(-1) ?? 0].map((value) => valueText(value).padStart(8));
    screen.fact(
      name,
      values.length === 1
        ? (ends[0] ?? '')
        : `${ends[0]} ${sparkline(values, sparklineWidth)} ${ends[1]?.trim()}`,
    );
  }
  screen.fact(
    'curves',
    await save(result, 'metrics.svg', await client.text('image/svg+xml', `${experiment}/metrics`)),
  );
}

/** Download an artifact by its presigned URL, which needs no token. */
async function download(client: ServiceClient, path: string): Promise<Uint8Array> {
  const location = (await client.send('GET', path)).headers.get('location');
  const response = location === null ? undefined : await fetch(location);
  if (response?.ok !== true)
    throw new CommandError(`${path} cannot be downloaded: ${response?.status ?? 'no redirect'}`);
  return response.bytes();
}

async function showArtifacts(result: Result, experiment: string): Promise<void> {
  const { client, screen } = result;
  const artifacts = await client.json(z.array(Artifact), 'GET', `${experiment}/artifacts`);
  screen.heading('Artifacts');
  for (const { path, size, sha256 } of artifacts)
    screen.fact(path.padEnd(16), `${countText(size).padStart(9)} bytes  sha256 ${sha256}`);
  const model = artifacts.find(({ path }) => path === modelPath);
  if (model === undefined) throw new CommandError(`The experiment left no ${modelPath}.`);
  const bytes = await download(client, `${experiment}/artifacts/${modelPath}`);
  if (createHash('sha256').update(bytes).digest('hex') !== model.sha256) {
    throw new CommandError(`What was downloaded is not ${modelPath}: its SHA-256 differs.`);
  }
  screen.fact('downloaded', `${await save(result, modelPath, bytes)}, SHA-256 as promised`);
}

async function showGraph(result: Result): Promise<void> {
  const { client, screen, project_id } = result;
  const path = `${pathOf('projects', project_id, 'configs', configId)}/graph`;
  screen.heading(`Graph of ${configId}`);
  screen.fact('drawing', await save(result, 'graph.svg', await client.text('image/svg+xml', path)));
  screen.line();
  screen.line((await client.text('text/vnd.mermaid', path)).trimEnd());
}

/** Show and save the results of an experiment that succeeded. */
export async function reportSuccess(result: Result): Promise<void> {
  const experiment = pathOf('projects', result.project_id, 'experiments', result.experiment.experiment_id);
  showExperiment(result);
  await showMetrics(result, experiment);
  await showArtifacts(result, experiment);
  await showGraph(result);
}

/** Shows why an experiment did not succeed: its reason and its last lines. */
export async function reportFailure({ client, screen, project_id, experiment }: Result): Promise<void> {
  const { experiment_id, status, status_reason, exit_code } = experiment;
  const log = `${pathOf('projects', project_id, 'experiments', experiment_id)}/logs`;
  const lines = await client.send('GET', log, { query: { tail: '15' }, headers: { Accept: 'text/plain' } });
  screen.heading(`Experiment ${experiment_id}`);
  screen.fact('status', status);
  screen.fact('reason', status_reason ?? (exit_code === null ? 'none is known' : `exit code ${exit_code}`));
  screen.heading('Its last lines');
  for (const line of (await lines.text()).trimEnd().split('\n')) screen.quote(line);
}
