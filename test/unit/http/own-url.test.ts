import { expect, test } from 'vitest';
import { ownUrl } from '../../../shared/http/pipeline/own-url.ts';
import type { Event } from '../../../shared/http/pipeline/proxy-event.ts';

const path = '/auth/oidc/exchange';
const asked = (domainName: string | undefined, requestPath: string) =>
  ({
    headers: { Host: 'forged.example', 'X-Forwarded-Host': 'forged.example' },
    requestContext: { domainName, path: requestPath },
  }) as unknown as Event;

test.each([
  [
    'the address of API Gateway',
    'abc.execute-api.eu-central-1.amazonaws.com',
    `/v1${path}`,
    'https://abc.execute-api.eu-central-1.amazonaws.com/v1',
  ],
  ['a domain', 'mps.example.org', path, 'https://mps.example.org'],
  ['a path of a domain, and a slash at the end', 'example.org', `/ml${path}/`, 'https://example.org/ml'],
])('the URL of the service is that of %s, whatever headers say', (_, domainName, requestPath, expected) => {
  expect(ownUrl(asked(domainName, requestPath), path, { serviceUrl: undefined })).toBe(expected);
});

test('the URL of the service is the one of its settings on one machine', () => {
  const settings = { serviceUrl: 'http://127.0.0.1:3000' };

  expect(ownUrl(asked(undefined, path), path, settings)).toBe('http://127.0.0.1:3000');
  expect(() => ownUrl(asked(undefined, path), path, { serviceUrl: undefined })).toThrow('SERVICE_URL');
});
