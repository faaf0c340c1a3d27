import { spawnSync } from 'node:child_process';

/** Runs a program to its end, its output shown to whoever runs the tests. @throws where it fails */
export function runProgram(program: string, args: readonly string[], cwd?: string): void {
  const { status, error } = spawnSync(program, [...args], { stdio: ['ignore', 2, 2], ...(cwd && { cwd }) });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ended with ${status}`);
}

/** The standard output of a program. @throws where it fails, with what it said */
export function outputOf(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, [...args], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export function succeeds(program: string, args: readonly string[]): boolean {
  return spawnSync(program, [...args], { stdio: 'ignore' }).status === 0;
}
