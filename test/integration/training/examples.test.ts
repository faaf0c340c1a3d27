import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { endpoint as listArtifacts } from '../../../functions/experiments/list-artifacts.endpoint.ts';
import { endpoint as readMetrics } from '../../../functions/experiments/read-metrics.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/put-config.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/train-project.endpoint.ts';
import { trainingService } from '../../support/training.ts';

const examples = join(import.meta.dirname, '../../examples');

async function filesOf(name: string): Promise<Record<string, string>> {
  const names = await readdir(join(examples, name));
  const texts = names.map((file) => readFile(join(examples, name, file), 'utf8'));
  return Object.fromEntries((await Promise.all(texts)).map((text, index) => [names[index] ?? '', text]));
}

describe('the example', () => {
  test.each([
    { name: 'hello', config: 'train.yaml', metric: 'accuracy', artifact: 'model.txt' },
    { name: 'resume', config: 'train.json', metric: 'val_accuracy', artifact: 'model.json' },
  ])('$name is trained as it is', async ({ name, config, metric, artifact }) => {
    const service = await trainingService();
    const files = await filesOf(name);
    const project_id = await service.project({ command: 'python3 train.py {config}', files });
    const content = {
      path: { project_id, config_id: config },
      body: files[config] ?? '',
      as: service.developer,
    };
    await service.call(putConfig, content);
    const { json } = await service.call(train, {
      path: { project_id },
      query: { config },
      as: service.developer,
    });
    const path = { project_id, experiment_id: json.experiment_id };
    const ended = await service.ended(project_id, json.experiment_id);
    expect(ended, await service.log(project_id, json.experiment_id)).toMatchObject({
      status: 'SUCCEEDED',
    });
    const artifacts = await service.call(listArtifacts, { path, as: service.developer });
    expect(artifacts.text).toContain(artifact);
    const metrics = await service.call(readMetrics, {
      path,
      as: service.developer,
    });
    expect(metrics.text).toContain(metric);
  });

  test('resume goes on where it was interrupted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mps-example-'));
    const run = () => {
      const [program, config] = ['train.py', 'train.json'].map((file) => join(examples, 'resume', file));
      const child = spawn('python3', [program ?? '', config ?? ''], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return { child, lines: createInterface({ input: child.stdout }) };
    };
    const first = run();
    for await (const line of first.lines) if (line.startsWith('epoch 3:')) first.child.kill('SIGKILL');
    const second = run();
    const said: string[] = [];
    for await (const line of second.lines) said.push(line);
    if (second.child.exitCode === null) await once(second.child, 'exit');
    expect(second.child.exitCode).toBe(0);
    expect(said[0]).toMatch(/^resumed after epoch [23]$/);
    expect(said.at(-1)).toMatch(/^epoch 20: .* accuracy 0\.9\d\d$/);
    expect(said.length).toBeLessThan(20);
  });
});
