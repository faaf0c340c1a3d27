import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Where the output of a command that is run by hand goes: nowhere, or through a pipe to `cat` and then nowhere. */
export type HandMode = 'nowhere' | 'pipe';

/** Runs a command as one would in a shell, `… > /dev/null` or `… | cat > /dev/null`, and returns its stderr. */
export async function runByHand(argv: readonly string[], cwd: string, mode: HandMode): Promise<string> {
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
