import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ProviderApi } from '../../../../cli/ci/provider/provider-api.ts';

test.each(['ghs_secret', 'ghs_secret\n', 'ghs_secret\nof two lines'])(
  'no message shows the token %j, and no other host gets it',
  async (token) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const message = `bad ${request.headers.authorization}`;
      if (request.url === '/moved') response.writeHead(302, { location: '/elsewhere' }).end();
      else response.writeHead(422).end(JSON.stringify({ message }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const api = new ProviderApi({ url, token, headers: { Authorization: `Bearer ${token}` } });

    for (const path of ['/repeated', '/moved']) {
      const error: Error = await api.send('GET', path).then(
        () => new Error('answered'),
        (thrown) => thrown,
      );
      expect(error.message).toContain(url);
      expect(error.message).not.toContain('ghs_secret');
    }
    expect(asked).not.toContain('/elsewhere');
  },
);
