import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../infra/local/start/launch.mjs', import.meta.url));

export interface LocalService {
  url: string;
  pid: number;
  /** Everything it has printed. */
  output(): string;
  /** Sends a signal and answers the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

export interface FailedStart {
  code: number | null;
  output: string;
}

function launch(args: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  return spawn(process.execPath, [launcher, ...args], {
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts the service as `npm start` does, on a free port; answers what it said where it did not start. */
export async function startLocalService(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<LocalService | FailedStart> {
  const child = launch(['--port', '0', ...args], environment);
  let output = '';
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const closed = once(child, 'close');
  const url = new Promise<string>((resolve) => {
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      if (line.startsWith('Listening on ')) resolve(line.slice('Listening on '.length));
    });
  });
  const ready = await Promise.race([url, closed.then(() => undefined)]);
  if (ready === undefined || child.pid === undefined) return { code: child.exitCode, output };
  return {
    url: ready,
    pid: child.pid,
    output: () => output,
    async end(signal) {
      child.kill(signal);
      await closed;
      return child.signalCode ?? child.exitCode;
    },
  };
}
