import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { valueText } from '../../../shared/drawing/number-text.ts';
import { type Screen, shortPath, sparkline } from './screen.ts';
import type { TypedCommand } from './typed-command.ts';

/** Show and save the results of a successful experiment. */
export async function showResults(result: Result): Promise<void> {
  const { mps, screen, project, experiment, folder } = result;
  screen.heading('Results');
  await mps.succeed('show', experiment.experiment_id, ...project);
  await showMetrics(result);
  screen.heading('Artifacts and configuration');
  await mps.succeed('pull', experiment.experiment_id, 'digits.onnx', '--to', folder, ...project);
  await mps.succeed('config', 'graph', 'train.yaml', '--to', join(folder, 'graph.svg'), ...project);
  await mps.succeed('config', 'graph', 'train.yaml', ...project);
}

interface Result {
  client: Client;
  mps: TypedCommand;
  screen: Screen;
  /** Flags that name the project. */
  project: readonly string[];
  experiment: DemoExperiment;
  /** Folder for saved results. */
  folder: string;
}

/** The fields of `mps show --json` that the demo uses. */
export const DemoExperiment = z.object({ experiment_id: z.string(), project_id: z.string() });
export type DemoExperiment = z.infer<typeof DemoExperiment>;

const sparklineWidth = 40;

/** Show the metric curves. No command draws them in a terminal. */
async function showMetrics({ client, screen, experiment, folder }: Result): Promise<void> {
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}/metrics';
  const { project_id, experiment_id } = experiment;
  const path = { project_id, experiment_id };
  const points = await Array.fromAsync(client.rows<typeof readMetrics>(route, { path }));
  screen.heading('Metrics');
  for (const [name, of] of Map.groupBy(points, (point) => point.name)) {
    const values = of.map(({ value }) => Number(value));
    const ends = [values[0] ?? 0, values.at(-1) ?? 0].map((value) => valueText(value).padStart(8));
    const curve = `${ends[0]} ${sparkline(values, sparklineWidth)} ${ends[1]?.trim()}`;
    screen.fact(name, values.length === 1 ? (ends[0] ?? '') : curve);
  }
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'metrics.svg');
  await writeFile(file, await client.text<typeof readMetrics>(route, 'image/svg+xml', { path }));
  screen.fact('curves', shortPath(file));
}
