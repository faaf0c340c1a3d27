import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HostSandbox } from '../../../../shared/runner/job/batch-container.ts';
import type { JobFolders } from './job-folders.ts';

/** The folder that holds the packages of a bundle. */
function packagesRoot(program: string): string {
  const file = createRequire(join(program, 'package.json')).resolve('onnxruntime-node');
  return dirname(file.slice(0, file.lastIndexOf('/node_modules/') + '/node_modules'.length));
}

/**
 * Sandbox of the jobs. Of the data folder they see only their own run. Jobs with the rights of the person who started
 * the service cannot change the home folder or this program. Jobs with users of their own have no rights there.
 *
 * @param stage variables of copies that stages run from, where they cannot read the program
 */
export function hostSandbox(
  dataFolder: string,
  program: string,
  { work }: JobFolders,
  stage: Readonly<Record<string, string>>,
): HostSandbox {
  const isRoot = process.getuid?.() === 0;
  const isProgramReadable = Object.keys(stage).length === 0;
  return {
    hidden: [...new Set([dataFolder, dirname(work)])],
    writable: [],
    readable: [
      ...(isRoot ? [] : [homedir()]),
      ...(isProgramReadable ? [packagesRoot(program), program] : []),
    ],
  };
}
