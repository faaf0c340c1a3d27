import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { boundToParent } from '../../shared/host/linux/bound-to-parent.ts';
import { mpsLauncher } from './mps.ts';

const relay = fileURLToPath(new URL('terminal.py', import.meta.url));

export interface TerminalOptions {
  folder: string;
  environment: Readonly<Record<string, string>>;
  columns?: number;
}

/** A command in a terminal, as a person has it before them. */
export interface Terminal {
  /** All that appeared, with the control sequences. */
  output(): string;
  /** Types keys; Ctrl-C is `\x03`. */
  type(keys: string): void;
  resize(rows: number, columns: number): void;
  /** Resolves once this has appeared. */
  shows(expected: string | RegExp): Promise<void>;
  /** The exit code. */
  ended: Promise<number | null>;
}

/** Runs a command line of the shell in a pseudo-terminal. `mps` in it is the command of this checkout. */
export function openTerminal(
  line: string,
  { folder, environment, columns = 100 }: TerminalOptions,
): Terminal {
  // In place of the shell, which would have ideas of its own about Ctrl-C.
  const program = line.replaceAll(/\bmps\b/g, `'${process.execPath}' '${mpsLauncher}'`);
  const shell = ['sh', '-c', line.includes('|') ? program : `exec ${program}`];
  const { file, args } = boundToParent('python3', [relay, '30', String(columns), ...shell]);
  const child = spawn(file, args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      TERM: 'xterm',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'close').then(() => child.exitCode);
  const say = (told: object) => child.stdin.write(`${JSON.stringify(told)}\n`);
  return {
    output: () => output,
    type: (keys) => say({ type: keys }),
    resize: (rows, width) => say({ resize: [rows, width] }),
    async shows(expected) {
      const isThere = () =>
        typeof expected === 'string' ? output.includes(expected) : expected.test(output);
      while (!isThere()) {
        if (child.exitCode !== null)
          throw new Error(`the command ended without showing ${expected}: ${output}`);
        await delay(20);
      }
    },
    ended,
  };
}
