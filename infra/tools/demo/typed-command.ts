import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../../command/command-error.ts';
import type { Screen } from './screen.ts';

/** Runs the command `mps` as a person types it in the folder of the example. */
export class TypedCommand {
  readonly #screen: Screen;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  /** Ends every process if the demo is interrupted. */
  readonly #started: AsyncDisposableStack;

  constructor(screen: Screen, service: { url: string; token: string }, started: AsyncDisposableStack) {
    this.#screen = screen;
    this.#environment = { ...process.env, MPS_URL: service.url, MPS_TOKEN: service.token };
    this.#started = started;
  }

  /** Show a command and its output. Return its exit code. */
  async run(...words: readonly string[]): Promise<number> {
    this.#screen.line(`\n$ mps ${words.map(quoted).join(' ')}`);
    return (await this.#start(words, 'inherit')).code;
  }

  /** Show a command and its output. @throws CommandError if it fails */
  async succeed(...words: readonly string[]): Promise<void> {
    const code = await this.run(...words);
    if (code !== 0) throw new CommandError(`mps ${words[0]} ended with ${code}.`);
  }

  /** Show a command, and return its JSON output. @throws CommandError if it fails */
  async json(...words: readonly string[]): Promise<unknown> {
    this.#screen.line(`\n$ mps ${words.map(quoted).join(' ')} --json`);
    const { code, output } = await this.#start([...words, '--json'], 'pipe');
    if (code !== 0) throw new CommandError(`mps ${words[0]} ended with ${code}.`);
    return JSON.parse(output);
  }

  async #start(
    words: readonly string[],
    stdout: 'inherit' | 'pipe',
  ): Promise<{ code: number; output: string }> {
    const child = spawn(process.execPath, [launcher, ...words], {
      cwd: sourceFolder,
      env: { ...this.#environment },
      stdio: ['ignore', stdout, 'inherit'],
      // Ctrl-C goes to the demo, which then ends its processes.
      detached: true,
    });
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    const closed = once(child, 'close');
    this.#started.defer(() => void child.kill());
    const [code] = await closed;
    return { code: Number(code ?? 1), output };
  }
}

const quoted = (word: string): string => (/^[\w./:=-]+$/.test(word) ? word : `'${word}'`);

const launcher = fileURLToPath(new URL('../../../cli/mps.mjs', import.meta.url));

const sourceFolder = fileURLToPath(new URL('../../../test/examples/digits', import.meta.url));
