import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { hasFileModes } from '../../shared/host/platform.ts';
import { CliError } from '../cli-error.ts';

/** Read the saved logins. @throws CliError if other users can read the file, or it is damaged */
export async function readLogins(file: string): Promise<Login[]> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return [];
  if ((found.mode & 0o077) !== 0 && hasFileModes)
    throw new CliError(`Other users can read your tokens. Run: chmod 600 ${file}`);
  try {
    return Logins.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    throw new CliError(`${file} is damaged. Remove it, then sign in with "mps login".`);
  }
}

const Login = z.object({
  url: z.string(),
  username: z.string(),
  token: z.string(),
  expires_at: z.string(),
});
export type Login = z.infer<typeof Login>;

/** Saved logins, newest first. The first one is the default. */
const Logins = z.array(Login);

/** Return the path of the login file in the user's configuration folder. */
export function loginFile({ XDG_CONFIG_HOME, HOME }: Variables): string {
  const settings = XDG_CONFIG_HOME || join(HOME || homedir(), '.config');
  return join(settings, 'mps', 'logins.json');
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Save logins. No other user can read the file at any moment. */
export const writeLogins = (file: string, logins: readonly Login[]): Promise<void> =>
  writeSecret(file, `${JSON.stringify(logins, undefined, 2)}\n`);

/** Write a file atomically. No other user can read it at any moment. */
export async function writeSecret(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, text, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, file);
}
