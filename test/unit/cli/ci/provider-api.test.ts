import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ProviderApi, waitSeconds } from '../../../../cli/ci/provider/provider-api.ts';

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

const secondary = { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' };
const forbidden = { message: 'Resource not accessible by integration' };

test.each<[number, Record<string, string>, object, number | undefined]>([
  [403, { 'retry-after': '7' }, secondary, 7],
  [429, { 'retry-after': '7' }, {}, 7],
  // GitHub's rule where no time is named: a minute.
  [403, {}, secondary, 60],
  [429, {}, {}, 60],
  [403, { 'x-ratelimit-remaining': '0' }, forbidden, 60],
  [403, {}, forbidden, undefined],
  [502, {}, {}, 3],
  [422, {}, {}, undefined],
])('an answer %d with %j and %j is asked again after %s s', (status, headers, json, seconds) => {
  expect(waitSeconds({ status, headers: new Headers(headers), json }, 3)).toBe(seconds);
});
