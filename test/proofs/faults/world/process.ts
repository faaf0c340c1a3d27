import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { boundToParent } from '../../../../shared/host/linux/bound-to-parent.ts';
import { thisHost } from '../../../../shared/host/this-host.ts';
import { type PlanInput, writePlan } from '../injection/plan.ts';

/** The bundled program of killed processes, and where node keeps it compiled. */
export interface Program {
  file: string;
  cache: string;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What it wrote to stderr. */
  errors: string;
}

/** Starts the program in a role. */
export function startProgram(
  { file, cache }: Program,
  role: string,
  given: unknown,
  environment: Readonly<Record<string, string>>,
  plan: PlanInput,
): { pid: number; ended: Promise<Ended> } {
  const { PATH = '' } = process.env;
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
  const program = boundToParent(process.execPath, [file, role, JSON.stringify(given)]);
  const child = spawn(program.file, program.args, {
    env: {
      PATH,
      AWS_ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY,
      NODE_COMPILE_CACHE: cache,
      ...thisHost.variables,
      ...environment,
      ...writePlan({ role, ...plan }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own: kernels that share the processor out by sessions would count it to the proof.
    detached: true,
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode, errors }));
  return { pid: child.pid ?? 0, ended };
}
