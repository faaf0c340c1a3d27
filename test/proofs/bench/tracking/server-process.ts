import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Bench } from '../group.ts';

/** Run a program to its end. @throws Error where it fails */
export async function run(
  program: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<void> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ${args[0] ?? ''} failed`);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** End a server that is the leader of a group, in which its workers are. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  await ended;
}

/** Rejects once a server ends by itself. */
export async function ended(child: ChildProcess, name: string): Promise<never> {
  await once(child, 'exit');
  throw new Error(`${name} has ended`);
}

/** A program of PyPI in an environment that is kept from one bench to the next, installed where it is not there yet. */
export async function installed(
  { say }: Bench,
  environment: string,
  program: string,
  packages: readonly string[],
): Promise<string> {
  const file = join(environment, 'bin', program);
  const note = join(environment, 'packages.txt');
  const wanted = packages.join('\n');
  if ((await readFile(note, 'utf8').catch(() => '')) !== wanted) {
    say(`installing ${packages.join(', ')}`);
    await run('python3', ['-m', 'venv', environment]);
    await run(join(environment, 'bin/pip'), ['install', '--quiet', ...packages]);
    await writeFile(note, wanted);
  }
  return file;
}
