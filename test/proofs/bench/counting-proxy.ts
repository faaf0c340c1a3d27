import { once } from 'node:events';
import { Agent, createServer, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** What passed the proxy. */
export interface Counted {
  reads: number;
  writes: number;
  /** Bytes of the engine's answers. */
  bytes: number;
}

/** Forward requests to an engine of DynamoDB and count them. */
export async function startCountingProxy(engine: string, started: AsyncDisposableStack) {
  const counted: Counted = { reads: 0, writes: 0, bytes: 0 };
  const agent = new Agent({ keepAlive: true });
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { method, url, headers } = request;
    const forwarded = send(`${engine}${url ?? '/'}`, { agent, method, headers }).end(body);
    forwarded.on('error', () => response.destroy());
    forwarded.on('response', async (answer) => {
      const bytes = await buffer(answer);
      if (/Write|Put|Update|Delete/.test(String(headers['x-amz-target']))) counted.writes += 1;
      else counted.reads += 1;
      counted.bytes += bytes.length;
      response.writeHead(answer.statusCode ?? 500, answer.headers).end(bytes);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  started.defer(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the counting proxy has no port');
  return { url: `http://127.0.0.1:${address.port}`, counted };
}
