import { chmod } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import * as z from 'zod';

/**
 * Hands the bytes of each connection to a Unix socket on to a port of this process's own network, which clients
 * elsewhere cannot reach. Only the owner of this process may connect. Returns what stops it.
 */
export async function startRelay({ socket, port }: RelayOptions): Promise<() => Promise<void>> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client.once('close', () => open.delete(client)));
    bind(client, connect({ host: '127.0.0.1', port, noDelay: true }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, () => resolve());
  });
  await chmod(socket, 0o600);
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const client of open) client.destroy();
    });
}

export const RelayOptions = z.strictObject({
  /** Path of the Unix socket. Its folder must be its owner's alone. */
  socket: z.string().min(1),
  /** Port of the emulator in the network of this process. */
  port: z.int().min(1).max(65_535),
});
export type RelayOptions = z.infer<typeof RelayOptions>;

/** Ends both sides when either has ended or failed. */
function bind(one: Socket, other: Socket): void {
  const end = () => {
    one.destroy();
    other.destroy();
  };
  for (const side of [one, other]) side.on('error', end).on('close', end);
  one.pipe(other);
  other.pipe(one);
}
