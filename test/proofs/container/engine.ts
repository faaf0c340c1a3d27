import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ContainerEngine {
  /** `DOCKER_HOST` for its clients; undefined where their own settings already lead to it. */
  host: string | undefined;
  close(): Promise<void>;
}

function answers(host: string | undefined): boolean {
  const env = host === undefined ? process.env : { ...process.env, DOCKER_HOST: host };
  return spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], { env }).status === 0;
}

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

async function comesUp(host: string, daemon: ChildProcess): Promise<boolean> {
  for (let attempt = 0; attempt < 300 && daemon.exitCode === null; attempt += 1) {
    if (answers(host)) return true;
    await sleep(100);
  }
  return false;
}

/**
 * The container engine that docker's client finds; else, for root where `dockerd` is installed (Debian's package
 * docker.io starts none in a container or chroot), one of our own, with all it keeps below `folder`. Undefined where
 * there is neither.
 * @throws where our own does not come up
 */
export async function containerEngine(folder: string): Promise<ContainerEngine | undefined> {
  if (!isInstalled('docker')) return undefined;
  if (answers(undefined)) return { host: undefined, close: async () => {} };
  if (process.getuid?.() !== 0 || !isInstalled('dockerd')) return undefined;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const host = `unix://${join(folder, 'docker.sock')}`;
  const logFile = join(folder, 'dockerd.log');
  const log = await open(logFile, 'w');
  const daemon = spawn(
    'dockerd',
    [
      ...['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'run')],
      ...['--pidfile', join(folder, 'pid'), '--host', host, '--log-level', 'error'],
    ],
    { stdio: ['ignore', log.fd, log.fd] },
  );
  const ended = new Promise<void>((resolve) => daemon.once('exit', () => resolve()));
  await log.close();
  const close = async () => {
    daemon.kill('SIGTERM');
    await ended;
  };
  if (await comesUp(host, daemon)) return { host, close };
  await close();
  throw new Error(`dockerd was started and did not come up; ${logFile} says why.`);
}
