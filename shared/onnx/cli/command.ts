import { ProgressLine } from './progress-line.ts';
import { runCli } from './run-cli.ts';

/** Run the command of this process. @param stageProgram path of the program of its stages */
export async function runCommand(stageProgram: string): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  process.exitCode = await runCli(process.argv.slice(2), {
    // Collecting garbage on more threads costs more than it saves: hardly any is small.
    stageCommand: [process.execPath, '--single-threaded-gc', stageProgram],
    progress: new ProgressLine(process.stderr),
    print: (text) => void process.stdout.write(text),
    signal: interrupted.signal,
  });
}
