import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { sampled } from '../../support/samples.ts';
import { trainingService } from '../../support/training.ts';

const execute = promisify(execFile);
const examples = join(import.meta.dirname, '../../examples');

async function filesOf(name: string): Promise<Record<string, string>> {
  const names = await readdir(join(examples, name));
  const texts = names.map((file) => readFile(join(examples, name, file), 'utf8'));
  return Object.fromEntries((await Promise.all(texts)).map((text, index) => [names[index] ?? '', text]));
}

async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-example-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('the example', () => {
  const usual = [
    {
      name: 'resume',
      command: 'python3 train.py {config}',
      config: 'train.json',
      metric: 'val_accuracy',
      artifact: 'model.json',
    },
    {
      name: 'hello',
      command: 'python3 train.py',
      config: 'train.yaml',
      metric: 'accuracy',
      artifact: 'model.json',
    },
  ];

  test.each(sampled(usual, 2))(
    '$name is trained as it is',
    async ({ name, command, config, metric, artifact }) => {
      const service = await trainingService();
      const files = await filesOf(name);
      const project_id = await service.project({ command, files });
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
        best_reason: null,
      });
      const artifacts = await service.call(listArtifacts, { path, as: service.developer });
      expect(artifacts.text).toContain(artifact);
      const metrics = await service.call(readMetrics, {
        path,
        as: service.developer,
      });
      expect(metrics.text).toContain(metric);
    },
  );

  test('hello learns: better with another learning rate, the same with the same seed', async () => {
    const folder = await scratchFolder();
    const valuesWith = async (lines: string): Promise<Map<string, number>> => {
      const config = join(folder, 'train.yaml');
      const metrics = join(folder, 'metrics.jsonl');
      await writeFile(config, `epochs: 5\n${lines}`);
      await rm(metrics, { force: true });
      const env = { ...process.env, CONFIG_PATH: config, OUTPUT_DIR: folder, METRICS_FILE: metrics };
      await execute('python3', [join(examples, 'hello/train.py')], { env });
      const rows = (await readFile(metrics, 'utf8')).trimEnd().split('\n');
      return new Map(rows.map((row) => JSON.parse(row)).map(({ name, value }) => [name, value]));
    };
    const slow = await valuesWith('learning_rate: 0.02\n');
    expect([...slow.keys()]).toEqual(['loss', 'accuracy', 'val_loss', 'val_accuracy']);
    expect(await valuesWith('learning_rate: 0.02\n')).toEqual(slow);
    const fast = await valuesWith('learning_rate: 0.2\n');
    expect(fast.get('val_loss')).toBeLessThan((slow.get('val_loss') ?? 0) / 2);
    expect(fast.get('val_accuracy')).toBeGreaterThan(slow.get('val_accuracy') ?? 1);
    expect((await valuesWith('learning_rate: 0.2\nseed: 2\n')).get('val_loss')).not.toBe(
      fast.get('val_loss'),
    );
  });

  test('resume goes on where it was interrupted', async () => {
    const folder = await scratchFolder();
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
