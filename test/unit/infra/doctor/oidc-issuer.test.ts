import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkIssuer } from '../../../../infra/aws/deploy/checks/oidc-issuer.ts';
import { readOptions } from '../../../../infra/aws/options/deployment-options.ts';

const server = createServer((request, response) => {
  const name = request.url?.split('/')[1];
  if (name === 'moved') return void response.writeHead(302, { Location: '/good' }).end();
  if (name === 'missing') return void response.writeHead(404).end();
  if (name === 'page') return void response.end('<html>');
  const issuer = name === 'other' ? 'https://other.example' : `${origin}/good`;
  response.end(JSON.stringify({ issuer, jwks_uri: `${origin}/keys` }));
});
let origin: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

const outcomeOf = async (oidcIssuer: string | undefined) =>
  (await checkIssuer({ oidcIssuer })).map(({ outcome, what }) => `${outcome}: ${what}`);

test('the doctor takes an issuer that answers under its own name', async () => {
  expect(await outcomeOf(`${origin}/good`)).toEqual([`good: people sign in at ${origin}/good`]);
  expect(await outcomeOf(undefined)).toEqual([]);
});

test.each([
  ['moved', /^problem: .* redirects/],
  ['missing', /^problem: .* answered 404/],
  ['page', /^problem: .* is no issuer/],
  ['other', /^problem: .* names the issuer https:\/\/other\.example /],
  ['good/', /^problem: .* names the issuer/],
])('the doctor refuses an issuer that is %s', async (path, expected) => {
  expect(await outcomeOf(`${origin}/${path}`)).toEqual([expect.stringMatching(expected)]);
});

test.each([
  ['https://login.microsoftonline.com/{tenantid}/v2.0', /name the tenant/],
  ['https://login.microsoftonline.com/common/v2.0', /must name the tenant/],
  ['https://login.microsoftonline.com/organizations/v2.0', /must name the tenant/],
  ['login.example.org', /must be the URL of an issuer/],
  ['https://login.example.org?x=1', /without a query/],
  ['http://login.example.org', /must be an https URL/],
])('a deployment refuses the issuer %s', (oidcIssuer, expected) => {
  expect(() => readOptions({ oidcIssuer })).toThrow(expected);
});

test.each(['ml', 'ml=root', '=admin', 'ml=admin,,x=viewer', ''])(
  'a deployment refuses the groups "%s"',
  (oidcGroups) => {
    expect(() => readOptions({ oidcIssuer: 'https://login.example.org', oidcGroups })).toThrow(/oidcGroups/);
  },
);
