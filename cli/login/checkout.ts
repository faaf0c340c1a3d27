import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';

type Variables = Readonly<Record<string, string | undefined>>;

const Running = z.object({ url: z.string(), pid: z.int() });

/** The folder of the checkout that the command runs from; undefined for one that was installed. */
export const checkoutFolder = ({ MPS_CHECKOUT }: Variables): string | undefined => MPS_CHECKOUT || undefined;

/** The folder in which the service of a checkout keeps everything, unless it was started with another one. */
export const dataFolderOf = (checkout: string): string => join(checkout, '.data');

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Address of the service that runs on the checkout's own data folder; undefined where none does. */
export async function runningService(env: Variables): Promise<string | undefined> {
  const checkout = checkoutFolder(env);
  if (checkout === undefined) return undefined;
  try {
    const file = join(dataFolderOf(checkout), 'service.json');
    const { url, pid } = Running.parse(JSON.parse(await readFile(file, 'utf8')));
    return isAlive(pid) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The password that the service made up for its first admin, which only who started it can read. */
export async function ownAdminPassword(env: Variables): Promise<string | undefined> {
  const checkout = checkoutFolder(env);
  if (checkout === undefined) return undefined;
  return readFile(join(dataFolderOf(checkout), 'admin-password'), 'utf8').catch(() => undefined);
}
