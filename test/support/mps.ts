import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runInputs } from '../../cli/application.ts';
import { cliContext } from '../../cli/context.ts';
import { tellNewerVersion } from '../../cli/login/newer-version.ts';

/** The command as a checkout starts it. */
export const mpsLauncher = fileURLToPath(new URL('../../cli/mps.mjs', import.meta.url));

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

/** Runs `mps` in this process, as far as the person types nothing and goes nowhere: no process for each command. */
export async function runMps(
  args: readonly string[],
  { folder, home, environment = {} }: Omit<MpsOptions, 'input'>,
): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  const screen = (stream: keyof typeof printed) => ({
    write(text: string) {
      printed[stream] += text;
    },
  });
  const env = { HOME: home, MPS_CHECKOUT: home, ...environment };
  const place = { stdin: {}, stdout: screen('stdout'), stderr: screen('stderr'), env, cwd: () => folder };
  const context = cliContext(place);
  const code = await runInputs(args, context);
  // What goes on beside a command ends with it, before its home is removed.
  await tellNewerVersion(context);
  return { code, ...printed };
}

export interface StartedMps {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Everything it has printed. */
  output(): string;
  /** Resolves once it has printed this text. */
  printed(text: string): Promise<void>;
}

/** Starts `mps` as a person does, with a home of its own. */
export function startMps(
  args: readonly string[],
  { folder, home, environment = {}, input = '' }: MpsOptions,
): StartedMps {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(process.execPath, [mpsLauncher, ...args], {
    cwd: folder,
    // A checkout of its own: the service that somebody runs in this one is none of the test's business.
    env: { PATH, NODE_COMPILE_CACHE, HOME: home, MPS_CHECKOUT: home, ...environment },
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
  const printed = async (text: string) => {
    while (!`${stdout}${stderr}`.includes(text)) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`mps ended without printing ${text}: ${stderr}`);
      await delay(20);
    }
  };
  return { child, output: () => `${stdout}${stderr}`, ended, printed };
}
