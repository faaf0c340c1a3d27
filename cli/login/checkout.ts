import { existsSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { isLoopback } from './service.ts';

/** Address of the service that runs on the checkout's own data folder; undefined where none does. */
export async function runningService(env: Variables): Promise<string | undefined> {
  const checkout = checkoutFolder(env);
  if (checkout === undefined) return undefined;
  try {
    const file = join(dataFolderOf(checkout), 'service.json');
    const { url, pid } = Running.parse(JSON.parse(await readFile(file, 'utf8')));
    return isAlive(pid) && isLoopback(new URL(url).hostname) ? url : undefined;
  } catch {
    return undefined;
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

/** The folder of the checkout that the command runs from or in; undefined for one that was installed elsewhere. */
export const checkoutFolder = ({ MPS_CHECKOUT }: Variables): string | undefined => MPS_CHECKOUT || undefined;

/** The folder in which the service of a checkout keeps everything, unless it was started with another one. */
export const dataFolderOf = (checkout: string): string => join(checkout, '.data');

const Running = z.object({ url: z.string(), pid: z.int() });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The checkout that a folder lies in and that has run the service; undefined where there is none. */
export function checkoutAbove(folder: string): string | undefined {
  if (isCheckout(folder)) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : checkoutAbove(above);
}

const Manifest = z.object({ name: z.literal('model-project-service') });

function isCheckout(folder: string): boolean {
  try {
    Manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    return existsSync(dataFolderOf(folder));
  } catch {
    return false;
  }
}

/** The password that the service made up for its first admin, which only who started it can read. */
export async function ownAdminPassword(env: Variables): Promise<string | undefined> {
  const checkout = checkoutFolder(env);
  if (checkout === undefined) return undefined;
  const file = join(dataFolderOf(checkout), 'admin-password');
  try {
    // The service keeps it from others: one that they can read came from somewhere else, with a repository say.
    const { mode } = await stat(file);
    return (mode & 0o077) === 0 || process.platform === 'win32' ? await readFile(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
