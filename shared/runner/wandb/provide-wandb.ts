import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readAtMost } from '../host/read-at-most.ts';
import type { TrainingRun } from '../job/training-job.ts';
import { findFiles } from '../outputs/find-files.ts';
import { passesOver } from '../outputs/passed-over.ts';
import { wandbCharts } from './wandb-charts.ts';
import { wandbFrameworks } from './wandb-frameworks.ts';
import { wandbMedia } from './wandb-media.ts';
import { wandbRuns } from './wandb-runs.ts';
import { wandbSender } from './wandb-sender.ts';
import { wandbSklearn } from './wandb-sklearn.ts';

/**
 * Provide a module in the place of wandb to a program that names it: what it logs is then this experiment's. Return
 * the folder of the module; undefined if the project has a key of wandb, or its source does not name it.
 */
export async function provideWandb(run: TrainingRun): Promise<string | undefined> {
  const { job, workspace, variables, user } = run;
  if (hasKey(variables.values)) return undefined;
  const command = job.record.environment.entry_point_command;
  if (!named.test(command) && !(await isNamed(workspace.source, user))) return undefined;
  const folder = join(workspace.root, 'modules');
  // Lightning and others ask the metadata for the version.
  const metadata = join(folder, `wandb-${version}.dist-info`);
  for (const path of [folder, join(folder, 'wandb'), metadata]) await mkdir(path, { mode: 0o755 });
  await writeFile(join(metadata, 'METADATA'), `Metadata-Version: 2.1\nName: wandb\nVersion: ${version}\n`, {
    mode: 0o444,
  });
  const module = wandbSender + wandbRuns + wandbMedia + wandbCharts + wandbSklearn + wandbFrameworks;
  await writeFile(join(folder, 'wandb', '__init__.py'), module, { mode: 0o444 });
  return folder;
}

/** The version of wandb whose calls the module knows. */
const version = '0.19.0';

const hasKey = (values: Readonly<Record<string, string>>): boolean =>
  values['WANDB_API_KEY'] !== undefined ||
  values['WANDB_BASE_URL'] !== undefined ||
  /wandb/.test(values['NETRC'] ?? '');

const named = /wandb/i;

/** Files that name libraries of a program. */
const source = /\.(?:py|ipynb|ya?ml|toml|cfg|json|sh)$/;

const maxFiles = 5_000;
const maxFileBytes = 1_000_000;
const maxBytes = 50_000_000;

async function isNamed(folder: string, user: TrainingRun['user']): Promise<boolean> {
  const bounds = { maxFiles, maxDepth: 16, maxPathBytes: 1_000 };
  const options = { ...bounds, refused: () => undefined, passesOver, ...(user !== undefined && { user }) };
  let bytes = 0;
  for await (const found of findFiles(folder, options)) {
    if (!source.test(found.path) || found.size > maxFileBytes) continue;
    bytes += found.size;
    if (bytes > maxBytes) return false;
    const handle = await found.open().catch(() => undefined);
    if (handle === undefined) continue;
    try {
      const text = await readAtMost(handle, maxFileBytes);
      if (text !== undefined && named.test(text.toString('latin1'))) return true;
    } finally {
      await handle.close();
    }
  }
  return false;
}
