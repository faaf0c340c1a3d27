import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from '../world/process.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../..');

/** The last commit before jobs waited in lines and leases named their user. */
const formerCommit = '6aa1d307';

/** A former version of the project in `folder`, out of its history, with the packages of this one. */
export async function checkOutFormer(folder: string): Promise<string> {
  const tree = join(folder, 'former');
  await mkdir(tree, { recursive: true });
  const packed = join(folder, 'former.tar');
  await run('git', ['archive', '--format=tar', `--output=${packed}`, formerCommit], { cwd: root }).catch(
    (error: unknown) => {
      throw new Error(`the history of this checkout does not have the commit ${formerCommit}: ${error}`);
    },
  );
  await run('tar', ['-xf', packed, '-C', tree]);
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}

/** The bundled program of its killed processes. */
export async function buildFormerProgram(tree: string, folder: string): Promise<Program> {
  const outdir = join(folder, 'former-program');
  const source = `import { buildProgram } from './test/faults/world/build-program.ts';
await buildProgram(${JSON.stringify(outdir)});`;
  await run(process.execPath, ['--input-type=module', '--eval', source], { cwd: tree });
  return { file: join(outdir, 'program.mjs'), cache: join(folder, 'former-cache') };
}

/** The program of its `npm start`. */
export const formerLauncher = (tree: string): string => join(tree, 'infra/local/start/launch.mjs');
