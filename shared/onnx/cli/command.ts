import { join } from 'node:path';
import { ProgressLine } from './progress-line.ts';
import { runCli } from './run-cli.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

process.exitCode = await runCli(process.argv.slice(2), {
  stageCommand: [process.execPath, join(import.meta.dirname, 'stage.ts')],
  progress: new ProgressLine(process.stderr),
  print: (text) => void process.stdout.write(text),
  signal: interrupted.signal,
});
