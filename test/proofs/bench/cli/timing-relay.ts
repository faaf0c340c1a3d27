import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** Stands before the service and measures how long it takes to answer. */
export interface TimingRelay {
  url: string;
  /** Seconds in which at least one request was being answered, since the last call. */
  takeBusySeconds(): number;
  close(): void;
}

/** @param target base address of the service */
export async function startTimingRelay(target: string): Promise<TimingRelay> {
  let busy = 0;
  let open = 0;
  let since = 0;
  const begin = () => {
    if (open === 0) since = performance.now();
    open += 1;
  };
  const end = () => {
    open -= 1;
    if (open === 0) busy += performance.now() - since;
  };
  const server = createServer(async (asked, answered) => {
    begin();
    try {
      const onward = request(`${target}${asked.url}`, {
        method: asked.method ?? 'GET',
        headers: asked.headers,
      });
      const [response] = await Promise.all([once(onward, 'response'), pipeline(asked, onward)]);
      const [answer] = response;
      answered.writeHead(answer.statusCode, answer.headers);
      await pipeline(answer, answered);
    } catch {
      answered.destroy();
    } finally {
      end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    takeBusySeconds() {
      const seconds = busy / 1000;
      busy = 0;
      return seconds;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
