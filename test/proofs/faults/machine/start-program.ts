import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { boundToParent } from '../../../../shared/host/linux/bound-to-parent.ts';
import { adminPassword } from './ledger.ts';

export interface StartedProgram {
  url: string;
  pid: number;
  /** Whether it is still there. */
  isAlive(): boolean;
  /** Everything it has printed. */
  output(): string;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a command that serves as `npm start` does, and waits until it listens. */
export async function startProgram(
  started: AsyncDisposableStack,
  command: string,
  args: readonly string[],
): Promise<StartedProgram> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const { file, args: given } = boundToParent(command, args);
  const child = spawn(file, given, {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ADMIN_PASSWORD: adminPassword },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const closed = once(child, 'close');
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await closed;
  };
  started.defer(() => end('SIGKILL'));
  const url = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      if (line.startsWith('Listening on ')) resolve(line.slice('Listening on '.length));
    });
  });
  const ready = await Promise.race([url, closed.then(() => undefined)]);
  if (ready === undefined) throw new Error(`the service did not start: ${output}`);
  return { url: ready, pid: child.pid ?? 0, isAlive, output: () => output, end };
}
