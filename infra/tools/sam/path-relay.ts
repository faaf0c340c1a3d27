import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';

/**
 * Start a proxy in front of `sam local`. sam decodes path variables, but API Gateway passes them unchanged
 * (aws-sam-cli issues 771 and 3524). The proxy encodes every path once more, so that functions get the same event
 * as on AWS.
 *
 * @param port of the proxy, on the loopback address
 * @param samPort port of sam
 */
export async function startPathRelay(port: number, samPort: number): Promise<AsyncDisposable> {
  const server = createServer((received, response) => {
    const { method, url = '/', rawHeaders } = received;
    const path = encodedOnceMore(url);
    const sent = sendRequest({ host, port: samPort, method, path, headers: rawHeaders }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    const end = () => response.destroy();
    sent.on('error', end);
    response.on('close', () => sent.destroy());
    received.on('error', end).pipe(sent);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Encode the path of a request target once more, but not its query. */
export function encodedOnceMore(target: string): string {
  const mark = target.indexOf('?');
  const end = mark === -1 ? target.length : mark;
  return target.slice(0, end).replaceAll('%', '%25') + target.slice(end);
}

const host = '127.0.0.1';

/** Return a free port of the loopback address. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new TypeError('there is no port');
  return address.port;
}
