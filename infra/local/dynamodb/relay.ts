import { chmod } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import * as z from 'zod';

/**
 * Forward the bytes of each connection to a Unix socket to a port of this process's own network namespace. Clients
 * outside the namespace cannot reach that port. Only the owner of this process may connect. Return a function that
 * stops the relay.
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
  /** Path of the Unix socket. Only its owner may have access to its folder. */
  socket: z.string().min(1),
  /** Port of the emulator in this process's network namespace. */
  port: z.int().min(1).max(65_535),
});
export type RelayOptions = z.infer<typeof RelayOptions>;

/** Close both sides when one closes or fails. */
function bind(socket: Socket, other: Socket): void {
  const end = () => {
    socket.destroy();
    other.destroy();
  };
  for (const side of [socket, other]) side.on('error', end).on('close', end);
  socket.pipe(other);
  other.pipe(socket);
}
