import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pythonNames } from '../../../shared/runner/environment/install/interpreter.ts';

/**
 * Return the versions of Python that jobs of this machine can use, as in `3.11.2,3.13.5`; blank if there is none. Only
 * interpreters on the search path count.
 */
export function pythonVersions(path: string): string {
  const folders = path.split(':').filter((folder) => folder !== '');
  const present = pythonNames.filter((name) => folders.some((folder) => existsSync(join(folder, name))));
  const versions = present.flatMap((name) => {
    const { stdout } = spawnSync(name, ['-V'], { encoding: 'utf8', timeout: 5_000, env: { PATH: path } });
    return /^Python (\d+(?:\.\d+)+)/.exec(stdout ?? '')?.[1] ?? [];
  });
  return [...new Set(versions)].join(',');
}
