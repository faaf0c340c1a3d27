import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs one of the Python programs beside this file with a task, and tells what it printed. */
export async function runPython(python: string, program: string, task: unknown): Promise<string> {
  const script = join(import.meta.dirname, program);
  const { stdout } = await run(python, [script, JSON.stringify(task)], { maxBuffer: 2 ** 26 });
  return stdout;
}
