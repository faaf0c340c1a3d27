import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TrainingRun } from '../../../../shared/runner/job/training-job.ts';
import { provideWandb } from '../../../../shared/runner/wandb/provide-wandb.ts';

describe('a module in the place of wandb', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'wandb-'));
    await mkdir(join(root, 'source'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** Provide the module to a project with a source and variables. */
  async function provided(source: string, values: Record<string, string> = {}, command = 'python3 train.py') {
    await writeFile(join(root, 'source', 'train.py'), source);
    const run = {
      job: { record: { environment: { entry_point_command: command } } },
      workspace: { root, source: join(root, 'source') },
      variables: { values },
    };
    return provideWandb(run as unknown as TrainingRun);
  }

  test('is provided to a program that names wandb, and to no other', async () => {
    expect(await provided('import mlflow')).toBeUndefined();
    expect(await provided('from lightning.pytorch.loggers import WandbLogger')).toBe(join(root, 'modules'));
  });

  test('is provided where the command names wandb', async () => {
    expect(await provided('', {}, 'python3 run_glue.py --report_to wandb')).toBe(join(root, 'modules'));
  });

  test('is not provided to a project with a key or a server of wandb', async () => {
    for (const values of [
      { WANDB_API_KEY: 'k' },
      { WANDB_BASE_URL: 'https://w' },
      { NETRC: 'machine api.wandb.ai login user' },
    ])
      expect(await provided('import wandb', values)).toBeUndefined();
  });

  test('records nothing and harms nothing outside of an experiment', async () => {
    const folder = await provided('import wandb');
    const script =
      'import wandb; r = wandb.init(config={"a": 1}); wandb.log({"x": 1}); print(r.config.a, r.summary["x"])';
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: folder, TMPDIR: root };

    expect(execFileSync('python3', ['-c', script], { env, cwd: root, stdio: 'pipe' }).toString()).toBe(
      '1 1.0\n',
    );
  });

  test('ends a step with a call of log that names no data', async () => {
    const folder = await provided('import wandb');
    const script =
      'import wandb; r = wandb.init()\nfor i in range(3): wandb.log({"x": i}, commit=False); wandb.log()\nprint(r.step, r.summary["x"])';
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: folder, TMPDIR: root };

    expect(execFileSync('python3', ['-c', script], { env, cwd: root, stdio: 'pipe' }).toString()).toBe(
      '3 2.0\n',
    );
  });

  test('does not take what an unknown call returned for a picture or a table', async () => {
    const folder = await provided('import wandb');
    const script =
      'import wandb; roc = wandb.plots.ROC([1], [0.5]); print(any(hasattr(roc, name) for name in ("_save", "savefig", "_folder")))';
    const env = { PATH: '/usr/bin:/bin', PYTHONPATH: folder, TMPDIR: root };

    expect(execFileSync('python3', ['-c', script], { env, cwd: root, stdio: 'pipe' }).toString()).toBe(
      'False\n',
    );
  });
});
