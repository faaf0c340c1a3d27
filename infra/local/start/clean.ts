import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { downloadsFolder } from '../../../shared/runner/environment/downloads/download-cache.ts';
import { wheelsFolder } from '../../../shared/runner/environment/host-wheels.ts';
import { buildsFolder } from '../../../shared/runner/environment/project-cache.ts';
import { removeTree } from '../../../shared/runner/environment/remove-tree.ts';
import { CommandError } from '../../command/command-error.ts';
import { readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import { openDataFolder } from './data-folder.ts';
import { diskUse, namesIn } from './data-folder-cleanup.ts';
import { jobFolders } from './job-folders.ts';

/** `npm run clean`: empty the caches of a data folder and print their sizes. */
async function clean(): Promise<number> {
  const options = { data: { type: 'string', default: '.data' }, list: { type: 'boolean' } } as const;
  const { data: folder, list = false } = readFlags(usage, { options }).values;
  const path = givenPath(folder);
  if (!existsSync(path)) {
    throw new CommandError(
      `There is no data folder ${path}. npm start creates .data, or the folder of --data.`,
    );
  }
  const data = await openDataFolder(path);
  try {
    let total = 0;
    for (const { path: cache, what } of await cachesOf(await jobFolders(data))) {
      const bytes = await diskUse(cache);
      if (!list) await removeTree(cache);
      total += bytes;
      process.stdout.write(`${bytesText(bytes).padStart(8)}  ${what}\n`);
    }
    process.stdout.write(`${bytesText(total).padStart(8)}  ${list ? 'in all' : 'freed'}\n`);
    return 0;
  } finally {
    data.release();
  }
}

const usage = `Usage: npm run clean -- [--data <data folder>] [--list]
  empties the caches of a data folder of npm start: environments, which the next training builds or downloads again, and
  folders of killed runs. Stop npm start first.
  --data  the data folder (default .data)
  --list  show the caches and their sizes, and remove nothing`;

const shared: Readonly<Record<string, string>> = {
  [downloadsFolder]: 'downloads of packages',
  [buildsFolder]: 'caches of builds',
  [wheelsFolder]: 'wheels of all projects',
};

async function cachesOf({ work, environments }: { work: string; environments: string }): Promise<Cache[]> {
  const within = (folder: string, what: string) => async () =>
    (await namesIn(folder)).map((name) => ({
      path: join(folder, name),
      what: shared[name] ?? `${what} ${name}`,
    }));
  const lists = [within(environments, 'environments of project'), within(work, 'run')];
  return (await Promise.all(lists.map((list) => list()))).flat();
}

interface Cache {
  path: string;
  what: string;
}

await runMain(clean);
