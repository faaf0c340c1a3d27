import { type ChildProcess, spawn } from 'node:child_process';

/**
 * POSIX shell script that reads the id of a process group from the pipe to its parent, and then waits for a line. If
 * the pipe closes without that line, the parent has died, and the script kills the group.
 */
const script = 'read -r group || exit 0; trap "" HUP INT TERM; read -r end || kill -s KILL -- "-$group"';

/**
 * End the group of a child when this process dies for any reason, `kill -9` included. A shell of its own waits for the
 * end of a pipe that only this process holds. This process runs nothing else between the start of the child and the
 * write to the pipe.
 *
 * @param child leads its own group
 * @returns a function to call when the child has ended, before the system can reuse the id of its group
 */
export function startSentinel({ pid }: ChildProcess): () => void {
  if (pid === undefined) return () => {};
  const sentinel = spawn('/bin/sh', ['-c', script, 'mps-sentinel'], {
    // A session of its own: it outlives a signal to the group of this process.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    cwd: '/',
  });
  const { stdin } = sentinel;
  // Somebody may have killed it. Then the group ends as it would without a sentinel.
  sentinel.on('error', () => {});
  stdin.on('error', () => {});
  stdin.write(`${pid}\n`);
  sentinel.unref();
  return () => void stdin.end('end\n');
}
