import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a command with its output going nowhere, as `command > /dev/null` in a shell, and returns its stderr. */
export async function runByHand(argv: readonly string[], cwd: string): Promise<string> {
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (chunk) => {
    text += String(chunk);
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${String(code)}: ${text}`);
  return text;
}
