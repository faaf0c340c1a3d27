import { once } from 'node:events';
import { isProgress } from '../../shared/onnx/cli/progress-line.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { installRuntime, runEngine } from '../run-engine.ts';

/**
 * Run the engine and return what it prints. A gate that fails is no error.
 *
 * @throws CliError with its message if it fails
 */
export async function engineOutput(context: CliContext, args: readonly string[]): Promise<string> {
  await installRuntime(context);
  const child = runEngine(context, args);
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      printed[stream] += text;
    });
  const end = () => void child.kill('SIGINT');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (code !== 0 && code !== exitCodes.gate) {
      // The system kills what takes too much memory: the request learns of it.
      const ended = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.failure;
      const why = `The engine was ended${signal === null ? '' : ` by ${signal}`} without a word.`;
      const told = printed.stderr.split('\n').filter((line) => !isProgress(line));
      throw new CliError(told.join('\n').trim() || why, code ?? ended);
    }
    return printed.stdout;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end);
  }
}
