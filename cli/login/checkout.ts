import { existsSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { isAlive } from '../../shared/host/is-alive.ts';
import { hasFileModes } from '../../shared/host/platform.ts';
import { isLoopback } from './service.ts';

/** Return the URL of the service that uses the checkout's data folder; undefined if none runs. */
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

/** Return the folder of the checkout that contains the command or the working directory; undefined otherwise. */
export const checkoutFolder = ({ MPS_CHECKOUT }: Variables): string | undefined => MPS_CHECKOUT || undefined;

/** Return the default data folder of a checkout's service. */
export const dataFolderOf = (checkout: string): string => join(checkout, '.data');

const Running = z.object({ url: z.string(), pid: z.int() });

/** Return the checkout that contains a folder, if its service has run before; undefined otherwise. */
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

/** Read the generated password of the service's first admin. Only the user who started the service can read it. */
export async function ownAdminPassword(env: Variables): Promise<string | undefined> {
  const checkout = checkoutFolder(env);
  if (checkout === undefined) return undefined;
  const file = join(dataFolderOf(checkout), 'admin-password');
  try {
    // The service writes this file readable by its owner only. A file that others can read came from elsewhere,
    // such as a repository.
    const { mode } = await stat(file);
    return (mode & 0o077) === 0 || !hasFileModes ? await readFile(file, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}
