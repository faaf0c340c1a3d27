import { ProgressLine } from './progress-line.ts';
import { runCli } from './run-cli.ts';

/**
 * Run the command of this process.
 *
 * @param stageProgram path of the program that runs its stages
 */
export async function runCommand(stageProgram: string): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  process.exitCode = await runCli(process.argv.slice(2), {
    // Parallel garbage collection costs more time than it saves, because few objects are small.
    stageCommand: [process.execPath, '--single-threaded-gc', stageProgram],
    progress: new ProgressLine(process.stderr),
    print: (text) => void process.stdout.write(text),
    signal: interrupted.signal,
  });
}
