import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FolderPlan } from '../../../cli/run/plan-folder.ts';
import { showPlan } from '../../../cli/run/show-plan.ts';

test('a plan lists the requirements of a folder below the root, and those of a lock file', async () => {
  const root = await mkdtemp(join(tmpdir(), 'mps-plan-'));
  await mkdir(join(root, 'app'));
  await writeFile(join(root, 'app/requirements.txt'), 'numpy==2.3.4\n');
  const added = { path: 'app/locked.txt', content: 'torch==2.9.0\n' };
  const dependencies = '-r app/requirements.txt\n-r app/locked.txt';
  const plan = {
    ...{ name: 'p', root, sub: 'app', config: { config_id: 'train.yaml' }, command: 'python train.py' },
    ...{ sizes: {}, sources: { files: [] } },
    environment: { env_type: 'python', reason: 'uv.lock', dependencies, added },
  };

  const lines = await showPlan(plan as unknown as FolderPlan);
  await rm(root, { recursive: true });

  expect(lines.filter((line) => line.startsWith('installs')).map((line) => line.slice(12))).toEqual([
    ...['-r app/requirements.txt', '  numpy==2.3.4', '-r app/locked.txt', '  torch==2.9.0'],
  ]);
});
