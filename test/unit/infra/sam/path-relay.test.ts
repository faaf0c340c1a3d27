import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { encodedOnceMore, freePort, startPathRelay } from '../../../../infra/tools/sam/path-relay.ts';
import { sendRaw } from '../../../support/raw-http.ts';

test.each([
  ['/a%20b/c?d=%20&e=%25', '/a%2520b/c?d=%20&e=%25'],
  ['/a%2Fb', '/a%252Fb'],
  ['/100%25/%zz', '/100%2525/%25zz'],
  ['/plain?', '/plain?'],
])('%s goes to sam as %s', (sent, path) => {
  expect(encodedOnceMore(sent)).toBe(path);
  expect(decodeURIComponent(path.split('?')[0] ?? '')).toBe(sent.split('?')[0]);
});

test('requests and answers pass as they are otherwise', async () => {
  const sam = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request)).join('');
    const { method, url, headers } = request;
    response.writeHead(
      418,
      [
        ['X-Many', 'a'],
        ['X-Many', 'b'],
      ].flat(),
    );
    response.end(JSON.stringify({ method, url, body, own: headers['x-own'], host: headers.host }));
  }).listen(0, '127.0.0.1');
  await once(sam, 'listening');
  const address = sam.address();
  if (address === null || typeof address === 'string') throw new TypeError('there is no port');
  const port = await freePort();
  {
    await using _relay = await startPathRelay(port, address.port);
    const lines = ['PUT /a%20b?c=%20 HTTP/1.1', 'Host: localhost:1', 'X-Own: yes', 'Content-Length: 4'];
    const answer = await sendRaw(
      `http://127.0.0.1:${port}`,
      `${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\nbody`,
    );
    expect(answer.status).toBe(418);
    expect(answer.body).toContain(
      '{"method":"PUT","url":"/a%2520b?c=%20","body":"body","own":"yes","host":"localhost:1"}',
    );
    sam.close();
    sam.closeAllConnections();
    await expect(
      sendRaw(`http://127.0.0.1:${port}`, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    ).resolves.toMatchObject({
      status: Number.NaN,
    });
  }
});
