import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A source of data that answers only who has the token. */
export async function privateSource(
  token: string,
  rows: readonly (readonly number[])[],
): Promise<{ url: string; close(): void }> {
  const server = createServer(({ headers }, response) => {
    const isKnown = headers.authorization === `Bearer ${token}`;
    response.writeHead(isKnown ? 200 : 401).end(isKnown ? JSON.stringify(rows) : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
