import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPapermill } from '../../command/papermill.ts';
import { parseCommand } from '../../command/parse-command.ts';
import type { TrainingRun } from '../job/training-job.ts';

/**
 * Let the kernel of an executed notebook print errors alone: it warns on every run that its connection, which stays on
 * this machine, is not encrypted. Other commands keep IPython's own settings.
 */
export async function quietKernel({ job, workspace, user }: TrainingRun): Promise<void> {
  if (!isPapermill(parseCommand(job.record.environment.entry_point_command))) return;
  const folders = ['.ipython', '.ipython/profile_default'].map((name) => join(workspace.home, name));
  const file = join(workspace.home, '.ipython/profile_default/ipython_kernel_config.json');
  for (const folder of folders) await mkdir(folder, { mode: 0o700 });
  await writeFile(file, '{ "IPKernelApp": { "log_level": 40 } }\n', { mode: 0o600 });
  // IPython keeps its own files there, too.
  if (user !== undefined) for (const path of [...folders, file]) await chown(path, user.uid, user.gid);
}
