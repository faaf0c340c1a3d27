import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  acceptsGzip,
  compressed,
  isCompressible,
  varyByEncoding,
} from '../../../shared/http/answer/content-encoding.ts';

test.each([
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['GZip, deflate, br', true],
  ['br, x-gzip;q=0.2', true],
  ['*', true],
  ['gzip;q=0, *', false],
  ['*;q=0', false],
  ['gzip ; q=0.001', true],
  ['gzip;q=no', false],
  ['identity, deflate', false],
])('Accept-Encoding: %s takes gzip: %s', (header, takes) => {
  expect(acceptsGzip(header)).toBe(takes);
});

test.each([
  ['application/json', 1024, true],
  ['application/problem+json', 5000, true],
  ['text/html; charset=utf-8', 5000, true],
  ['image/svg+xml', 5000, true],
  ['application/json', 1023, false],
  ['image/webp', 5000, false],
  ['image/png', 5000, false],
])('%s of %i bytes is compressed: %s', (mediaType, bytes, is) => {
  expect(isCompressible(mediaType, bytes)).toBe(is);
});

test('bytes are compressed once, and text every time', async () => {
  const bytes = Buffer.from('the same '.repeat(1000));
  expect(await compressed(bytes)).toBe(await compressed(bytes));
  expect(gunzipSync(await compressed(bytes))).toEqual(bytes);
  expect(gunzipSync(await compressed('ü'.repeat(1000))).toString()).toBe('ü'.repeat(1000));
});

test('Vary keeps what it names', () => {
  expect([varyByEncoding(undefined), varyByEncoding('Accept')]).toEqual([
    'Accept-Encoding',
    'Accept, Accept-Encoding',
  ]);
});
