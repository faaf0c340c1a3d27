import { randomBytes } from 'node:crypto';
import { glob, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The kernel's limit is 108 with the NUL at its end; macOS has 104. */
const longestPath = 103;

export interface SocketPath {
  path: string;
  remove(): Promise<void>;
}

/**
 * A new path for a Unix socket: in `folder`, or where that is too long for one in a new folder of this user's alone
 * in `/tmp`, of which jobs have another one.
 * It is new so that jobs of a service that was killed do not find the engine of the next one. Sockets that it left are
 * removed.
 */
export async function socketPath(folder: string): Promise<SocketPath> {
  for await (const left of glob('socket-*', { cwd: folder })) await rm(join(folder, left), { force: true });
  const path = join(folder, `socket-${randomBytes(4).toString('hex')}`);
  if (Buffer.byteLength(path) <= longestPath) return { path, remove: () => rm(path, { force: true }) };
  const short = await mkdtemp('/tmp/model-project-service-');
  return { path: join(short, 'socket'), remove: () => rm(short, { recursive: true, force: true }) };
}
