import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../cli/mps.mjs', import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface MpsOptions {
  folder: string;
  /** Home of the person, which holds the login. */
  home: string;
  environment?: Readonly<Record<string, string>>;
  input?: string;
}

/** Starts `mps` as a person does, with a home of its own. */
export function startMps(
  args: readonly string[],
  { folder, home, environment = {}, input = '' }: MpsOptions,
): { child: ChildProcess; ended: Promise<Ended> } {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: folder,
    env: { PATH, HOME: home, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => ({ code, stdout, stderr }));
  return { child, ended };
}
