import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { boundToParent } from '../../shared/host/linux/bound-to-parent.ts';
import { hostVariable } from '../../shared/host/this-host.ts';

const launcher = fileURLToPath(new URL('../../infra/local/start/launch.mjs', import.meta.url));

export interface LocalService {
  url: string;
  pid: number;
  /** Everything it has printed. */
  output(): string;
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

export interface FailedStart {
  code: number | null;
  output: string;
}

function launch(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  through: readonly string[],
  program: string,
): ChildProcess {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  // Tests that run on a host that somebody asked for start their service on it.
  const asked = process.env[hostVariable];
  const host = asked === undefined ? {} : { [hostVariable]: asked };
  // By its name, as npm starts it.
  const [file = '', ...rest] = [...through, 'node', program, ...args];
  // A test that is given up leaves nothing behind.
  const bound = boundToParent(file, rest);
  return spawn(bound.file, bound.args, {
    env: { PATH: `${dirname(process.execPath)}:${PATH}`, HOME, NODE_COMPILE_CACHE, ...host, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/**
 * Starts the service as `npm start` does, on a free port; answers what it said where it did not start. `through` is a
 * command that runs it, such as `unshare -r`. `program` starts it in the place of the launcher of this checkout.
 */
export async function startLocalService(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  through: readonly string[] = [],
  program = launcher,
): Promise<LocalService | FailedStart> {
  const child = launch(['--port', '0', ...args], environment, through, program);
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
  const ended = closed.then(() => child.signalCode ?? child.exitCode);
  return {
    url: ready,
    pid: child.pid,
    output: () => output,
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
