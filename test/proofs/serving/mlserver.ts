import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../../../infra/command/command-error.ts';
import { type Asked, ask } from './load.ts';

export const mlserverPackages = ['mlserver==1.7.1', 'onnxruntime==1.30.0', 'numpy==2.4.6'];

interface Mlserver {
  url: string;
  pid: number;
  end(): Promise<void>;
}

/**
 * Serve a model by MLServer and wait for its first answer. It runs the model in its one process (`parallel_workers` 0),
 * which takes less processor time and memory than its default, a worker beside it.
 * @param python program of a virtual environment with {@link mlserverPackages}
 * @param body an inference as JSON
 */
export async function startMlserver(
  python: string,
  folder: string,
  model: string,
  body: Uint8Array,
): Promise<Mlserver> {
  await mkdir(folder, { recursive: true });
  await copyFile(join(import.meta.dirname, 'peer.py'), join(folder, 'peer.py'));
  const settings = { debug: false, parallel_workers: 0, host: '127.0.0.1', http_port: port };
  const ports = { grpc_port: port + 1, metrics_port: port + 2 };
  await writeFile(join(folder, 'settings.json'), JSON.stringify({ ...settings, ...ports }));
  await writeFile(
    join(folder, 'model-settings.json'),
    JSON.stringify({ name: 'bench', implementation: 'peer.Peer' }),
  );
  const child = spawn(join(python, '../mlserver'), ['start', folder], {
    cwd: folder,
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, PEER_MODEL: model, PYTHONPATH: folder },
  });
  const { pid } = child;
  const url = `http://127.0.0.1:${port}/v2/models/bench/infer`;
  const end = async () => {
    const exited = once(child, 'exit');
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await exited;
  };
  const asked: Asked = { url, headers: { 'Content-Type': 'application/json' }, body };
  const agent = new Agent();
  for (let tries = 0; tries < 300 && pid !== undefined; tries += 1) {
    if ((await ask(asked, agent)) === 200) return { url, pid, end };
    await delay(200);
  }
  if (pid !== undefined) await end();
  throw new CommandError('MLServer did not start.');
}

const port = 4711;
