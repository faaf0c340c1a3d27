import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../../shared/client/client.ts';
import { type LogLine, TrainingProject } from './training-project.ts';

/** Where the output of a command that is run by hand goes: nowhere, or through a pipe to `cat` and then nowhere. */
type HandMode = 'nowhere' | 'pipe';

/** Runs a command as one would in a shell, `… > /dev/null` or `… | cat > /dev/null`, and returns its stderr. */
async function runByHand(argv: readonly string[], cwd: string, mode: HandMode): Promise<string> {
  const redirect = mode === 'pipe' ? '"$@" | cat > /dev/null' : 'exec "$@" > /dev/null';
  const child = spawn('/bin/sh', ['-c', redirect, 'sh', ...argv], {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk) => {
    text += String(chunk);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${String(code)}: ${text}`);
  return text;
}

/** A Python program that measures its own work, and prints the seconds on stderr. */
const timed = (work: string): string => `import sys, time
begun = time.perf_counter()
${work}
print(f'took {time.perf_counter() - begun:.6f} s', file=sys.stderr)
`;

export interface JobRun {
  /** Seconds that the command printed. */
  seconds: number;
  /** From the submission to the end of the job. */
  wholeSeconds: number;
  /** Of stdout. */
  lines: LogLine[];
}

/** One program, to be run by hand and as a job. */
export class TimedCommand {
  readonly #folder: string;
  readonly #project: TrainingProject;

  private constructor(folder: string, project: TrainingProject) {
    this.#folder = folder;
    this.#project = project;
  }

  /** `work` is Python; `folder` is where it runs by hand. */
  static async create(client: Client, folder: string, work: string): Promise<TimedCommand> {
    const program = timed(work);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'train.py'), program);
    const files = { 'train.py': program };
    return new TimedCommand(
      folder,
      await TrainingProject.create(client, { command: 'python3 train.py', files }),
    );
  }

  /** Seconds that the command printed. */
  async byHand(mode: HandMode = 'nowhere'): Promise<number> {
    return secondsIn(await runByHand(['python3', 'train.py'], this.#folder, mode));
  }

  /** Looks every so many milliseconds whether it has ended: often is exact, seldom leaves it the machine. */
  async asJob(pollMilliseconds: number): Promise<JobRun> {
    const begun = performance.now();
    const experiment = await this.#project.succeeded(await this.#project.train(), pollMilliseconds);
    const wholeSeconds = (performance.now() - begun) / 1000;
    const all = await this.#project.log(experiment);
    const lines = all.filter(({ stream }) => stream === 'stdout');
    const errorLines = all.filter(({ stream }) => stream === 'stderr').map(({ message }) => message);
    return { seconds: secondsIn(errorLines.join('\n')), wholeSeconds, lines };
  }
}

function secondsIn(text: string): number {
  const [, seconds] = /took ([\d.]+) s/.exec(text) ?? [];
  if (seconds === undefined) throw new Error(`the command did not say what it took: ${text}`);
  return Number(seconds);
}
