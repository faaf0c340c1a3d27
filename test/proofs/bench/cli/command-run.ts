import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../service-process.ts';

/** The bundle that people run. */
export const mpsBundle = join(projectRoot, '.build/cli/mps.mjs');

export interface CommandRun {
  seconds: number;
  stdout: string;
  stderr: string;
  /** Greatest resident memory in bytes; 0 where the system does not say. */
  memory: number;
}

export interface CommandOptions {
  folder: string;
  env: Readonly<Record<string, string>>;
  /** Called with each piece of stdout, which is then not kept. */
  onOutput?(chunk: string): void;
}

/** High-water mark of a process's resident memory. */
function peakOf(pid: number | undefined): number {
  try {
    const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return 1024 * Number(kilobytes);
  } catch {
    return 0;
  }
}

/** Runs a command to its end. @throws Error when it fails */
export async function runProgram(
  [file = '', ...args]: readonly string[],
  { folder, env, onOutput }: CommandOptions,
): Promise<CommandRun> {
  const begun = performance.now();
  const child = spawn(file, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const run: CommandRun = { seconds: 0, stdout: '', stderr: '', memory: 0 };
  const timer = setInterval(() => {
    run.memory = Math.max(run.memory, peakOf(child.pid));
  }, 20);
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (onOutput === undefined) run.stdout += chunk;
    else onOutput(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    run.stderr += chunk;
  });
  const [code] = await once(child, 'close');
  clearInterval(timer);
  run.seconds = (performance.now() - begun) / 1000;
  if (code !== 0) throw new Error(`${[file, ...args].join(' ')} ended with ${String(code)}: ${run.stderr}`);
  return run;
}

/** Runs `mps` from its bundle. */
export const runMps = (args: readonly string[], options: CommandOptions): Promise<CommandRun> =>
  runProgram([process.execPath, mpsBundle, ...args], options);
