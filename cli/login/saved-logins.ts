import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { CliError } from '../cli-error.ts';

/** The saved logins. @throws CliError when others may read them, or when they are damaged */
export async function readLogins(file: string): Promise<Login[]> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return [];
  if ((found.mode & 0o077) !== 0 && process.platform !== 'win32')
    throw new CliError(`Others may read your tokens. Run: chmod 600 ${file}`);
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

/** The login that was made last comes first and is the one that is used where nothing else is said. */
const Logins = z.array(Login);

/** The file that holds the tokens, below the folder for settings. */
export function loginFile({ XDG_CONFIG_HOME, HOME }: Variables): string {
  const settings = XDG_CONFIG_HOME || join(HOME || homedir(), '.config');
  return join(settings, 'mps', 'logins.json');
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Save logins so that no one else can read them at any moment. */
export const writeLogins = (file: string, logins: readonly Login[]): Promise<void> =>
  writeSecret(file, `${JSON.stringify(logins, undefined, 2)}\n`);

/** Writes a file that no one else can read at any moment. It appears whole. */
export async function writeSecret(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, text, { mode: 0o600 });
  // The mode of a file that was left by a killed process is not changed by writing.
  await chmod(unfinished, 0o600);
  await rename(unfinished, file);
}
