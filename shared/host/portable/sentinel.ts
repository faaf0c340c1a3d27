import { type ChildProcess, spawn } from 'node:child_process';
import type { EnvironmentMarker } from '../host.ts';

/**
 * POSIX shell script that reads the id of a process group from the pipe to its parent, and then waits for a line. If
 * the pipe closes without that line, the parent has died, and the script kills the group. Its arguments name the
 * marker and the group, so that `ps` finds the group by the marker.
 */
const waitForEnd = 'trap "" HUP INT TERM; read -r end || kill -s KILL -- "-$2"';

const script = `read -r group || exit 0; exec /bin/sh -c '${waitForEnd}' mps-sentinel "$1" "$group"`;

/**
 * End the group of a child when this process dies for any reason, `kill -9` included. A shell of its own waits for the
 * end of a pipe that only this process holds. Between the start of the child and the write to the pipe is no pause in
 * which this process runs anything else.
 *
 * @param child leads its own group
 * @returns a function to call when the child has ended, before the system can reuse the id of its group
 */
export function startSentinel({ pid }: ChildProcess, marker: EnvironmentMarker | undefined): () => void {
  if (pid === undefined) return () => {};
  const name = marker === undefined ? '-' : `${marker.name}=${marker.value}`;
  const sentinel = spawn('/bin/sh', ['-c', script, 'mps-sentinel', name], {
    // A session of its own: it outlives a signal to the group of this process.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    cwd: '/',
  });
  const { stdin } = sentinel;
  // It may have been killed. Then a later listing by ps has to find the group.
  sentinel.on('error', () => {});
  stdin.on('error', () => {});
  stdin.write(`${pid}\n`);
  sentinel.unref();
  return () => void stdin.end('end\n');
}

/** The group in the arguments of a sentinel with this marker; undefined for another program. */
export function groupOfSentinel(args: string, { name, value }: EnvironmentMarker): number | undefined {
  const start = args.lastIndexOf(` mps-sentinel ${name}=${value} `);
  const group = start === -1 ? Number.NaN : Number(args.slice(args.lastIndexOf(' ') + 1));
  return Number.isSafeInteger(group) && group > 1 ? group : undefined;
}
