import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { CliError } from '../../cli-error.ts';
import { wholeText } from '../../incomplete.ts';

/** Tracker whose own package reads its records. */
export interface PythonPackage {
  name: string;
  /** Version that uv fetches if the user's Python has none, and the Python for it. */
  version: string;
  python: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const Answer = z.object({
  items: z.array(z.unknown()).default([]),
  more: z.boolean().default(false),
  /** What of a run is not brought, with its number. */
  omitted: z.record(z.string(), z.number()).default({}),
  /** What cannot be read at all. */
  unread: z.array(z.string()).default([]),
  /** Package that Python does not have. */
  lacks: z.string().optional(),
  error: z.string().optional(),
});

type Answer = z.output<typeof Answer>;

/**
 * A program of Python that reads records which Node cannot: databases of SQLite, and those that only the package of their
 * tracker reads. Requests are answered in their order.
 */
export class PythonReader {
  readonly #child: ChildProcess;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #errors = '';
  #hasEnded = false;
  /** Folder for files that the program makes. */
  readonly scratch: string;

  private constructor(child: ChildProcess, scratch: string) {
    this.#child = child;
    this.scratch = scratch;
    const end = (): void => {
      this.#hasEnded = true;
      for (const answer of this.#waiting.splice(0)) answer(undefined);
    };
    child.on('error', end).on('close', end);
    child.stdin?.on('error', () => undefined);
    child.stderr?.on('data', (part) => {
      this.#errors = (this.#errors + part).slice(-2000);
    });
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => this.#waiting.shift()?.(line));
  }

  /**
   * Start the reader of that name for a file or a folder.
   * @throws CliError if no Python can read it
   */
  static async start(
    name: string,
    path: string,
    env: Environment,
    needed?: PythonPackage,
  ): Promise<PythonReader> {
    const scratch = await mkdtemp(join(tmpdir(), 'mps-import-'));
    const reasons: string[] = [];
    for (const [program, ...args] of interpreters(needed)) {
      // Python and uv take programs, packages and settings from the folder that they are started in.
      const child = spawn(program, [...args, readerProgram(), name, path, scratch], {
        ...{ env, cwd: scratch },
        stdio: 'pipe',
      });
      const reader = new PythonReader(child, scratch);
      const answer = await reader.#answer();
      if (answer?.error !== undefined) {
        await reader.close();
        throw new CliError(`${path} cannot be read: ${answer.error}`);
      }
      if (answer !== undefined && answer.lacks === undefined) return reader;
      child.kill();
      reasons.push(`${program}: ${answer?.lacks ? `has no package ${answer.lacks}` : reader.#lastError()}`);
    }
    await rm(scratch, { recursive: true, force: true });
    const what =
      needed === undefined
        ? 'Python 3 reads these records, and there is none in the PATH that can'
        : `${needed.name} itself reads these records. Activate the environment that has it, or install uv, which fetches it`;
    throw new CliError(`${what} (${reasons.join('; ')}).`);
  }

  /** @throws CliError if the program cannot answer */
  async ask(...request: readonly string[]): Promise<Answer> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    const answer = await this.#answer();
    if (answer === undefined) throw new CliError(`The reader has ended: ${this.#lastError()}`);
    if (answer.error !== undefined) throw new CliError(answer.error);
    return answer;
  }

  async #answer(): Promise<Answer | undefined> {
    const line = this.#hasEnded
      ? undefined
      : await new Promise<string | undefined>((resolve) => this.#waiting.push(resolve));
    try {
      return line === undefined ? undefined : Answer.parse(JSON.parse(line));
    } catch {
      return undefined;
    }
  }

  #lastError(): string {
    return this.#errors.trim().split('\n').at(-1) || 'cannot be started';
  }

  async close(): Promise<void> {
    if (!this.#hasEnded) {
      this.#child.stdin?.end();
      this.#child.kill();
      await once(this.#child, 'close').catch(() => undefined);
    }
    await rm(this.scratch, { recursive: true, force: true });
  }
}

/**
 * Commands that start Python. Its own variables and folders are left out where only the standard library is needed;
 * nothing is written beside the program.
 */
function interpreters(needed: PythonPackage | undefined): [string, ...string[]][] {
  const flags = needed === undefined ? ['-B', '-E', '-s'] : ['-B'];
  const installed: [string, ...string[]][] = [
    ['python3', ...flags],
    ['python', ...flags],
  ];
  if (needed === undefined) return installed;
  const { name, version, python } = needed;
  const fetched = [
    'run',
    '--no-project',
    '--python',
    python,
    '--with',
    `${name}==${version}`,
    'python',
    ...flags,
  ];
  return [...installed, ['uv', ...fetched]];
}

/** Return the path of the program: in the package next to this command, or in a checkout. */
function readerProgram(): string {
  const found = ['python/read.py', '../python/read.py', '../../cli/import/python/read.py']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path));
  if (found === undefined)
    throw new CliError(`What reads this tracker is not beside this command. ${wholeText()}`);
  return found;
}
