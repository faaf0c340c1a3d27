import { createHash } from 'node:crypto';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { rawHttp } from './raw-http.ts';
import { signRequest } from './sign-request.ts';
import { allowedOrigin, lacks, openTarget } from './target.ts';

const target = await openTarget();
const { client, bucket, key } = target;
afterAll(() => target.close());

const send = (method: string, path: string, given: Record<string, string> = {}, body = '') => {
  const url = new URL(`${target.url}${path}`);
  const headers = { ...given, 'content-length': String(Buffer.byteLength(body)) };
  return rawHttp(method, url, signRequest(target, method, url, headers).headers, body);
};

describe.skipIf(lacks('own-server'))('what the service does not use', () => {
  test.each([
    ['GET', '/'],
    ['PUT', `/${bucket}?acl=`],
    ['DELETE', `/${bucket}?policy=`],
    ['GET', `/${bucket}?acl=`],
    ['GET', `/${bucket}`],
    ['GET', `/${bucket}?list-type=3`],
    ['GET', `/${bucket}/x?versionId=1`],
    ['PUT', `/${bucket}/x?tagging=`],
    ['POST', `/${bucket}/x?restore=`],
  ])('%s %s is not implemented', async (method, path) => {
    expect(await send(method, path)).toMatchObject({ status: 501, code: 'NotImplemented' });
  });

  test.each(['x-amz-acl', 'x-amz-tagging', 'x-amz-server-side-encryption', 'x-amz-storage-class'])(
    'the header %s is not silently ignored',
    async (name) => {
      expect((await send('PUT', `/${bucket}/x`, { [name]: 'x' }, 'x')).code).toBe('NotImplemented');
    },
  );

  test('another method is not allowed', async () => {
    const answer = await send('PATCH', `/${bucket}/x`);
    expect(answer).toMatchObject({ status: 405, code: 'MethodNotAllowed' });
    expect(answer.headers['allow']).toContain('PUT');
  });
});

describe.skipIf(lacks('own-server'))('bad requests', () => {
  test('keys are at most 1024 bytes, and UTF-8', async () => {
    expect((await send('PUT', `/${bucket}/${'k'.repeat(1025)}`)).code).toBe('KeyTooLongError');
    expect((await send('GET', `/${bucket}/%FF`)).code).toBe('InvalidURI');
    expect((await send('GET', `/${bucket}/%zz`)).code).toBe('InvalidURI');
  });

  test.each([
    ['no XML', 'hello'],
    ['an unclosed element', '<Delete><Object>'],
    ['a crossed element', '<Delete><Object></Delete></Object>'],
    ['another root', '<Remove/>'],
    ['no object', '<Delete/>'],
    ['an entity', '<!DOCTYPE x [<!ENTITY a "b">]><Delete><Object><Key>&a;</Key></Object></Delete>'],
    ['an unknown entity', '<Delete><Object><Key>&a;</Key></Object></Delete>'],
    ['half a character', '<Delete><Object><Key>&#xD800;</Key></Object></Delete>'],
    ['depth', '<Delete>'.repeat(10_000)],
    ['an unknown condition', '<Delete><Object><Key>a</Key><Size>1</Size></Object></Delete>'],
  ])('a document with %s is refused', async (_, body) => {
    const crc = {
      'content-md5': createHash('md5').update(body).digest('base64'),
    };
    expect(await send('POST', `/${bucket}?delete=`, crc, body)).toMatchObject({
      status: 400,
      code: 'MalformedXML',
    });
  });

  test('deleting many needs a checksum, and a document of sane size', async () => {
    expect((await send('POST', `/${bucket}?delete=`, {}, '<Delete/>')).code).toBe('InvalidRequest');
    const large = ' '.repeat(4 * 1024 * 1024);
    const md5 = { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' };
    expect((await send('POST', `/${bucket}?delete=`, md5, large)).code).toBe('MaxMessageLengthExceeded');
  });

  test('a response header cannot be broken out of', async () => {
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: key('x'), Body: 'x' }));
    const bad = encodeURIComponent('a\r\nset-cookie: b');
    expect((await send('GET', `/${bucket}/${key('x')}?response-content-type=${bad}`)).code).toBe(
      'InvalidArgument',
    );
  });
});

describe.skipIf(lacks('cors'))('CORS', () => {
  const preflight = (origin: string, method = 'PUT') =>
    rawHttp('OPTIONS', `${target.url}/${bucket}/x`, {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type, x-amz-checksum-sha256',
    });

  test('an allowed origin may ask, and read what it needs', async () => {
    const { status, headers } = await preflight(allowedOrigin);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'access-control-allow-origin': allowedOrigin,
      'access-control-allow-headers': 'content-type, x-amz-checksum-sha256',
      vary: 'Origin',
    });
    expect(headers['access-control-allow-methods']).toContain('PUT');
    const answer = await rawHttp('GET', `${target.url}/${bucket}/x`, { origin: allowedOrigin });
    expect(answer.headers['access-control-allow-origin']).toBe(allowedOrigin);
    expect(answer.headers['access-control-expose-headers']).toContain('etag');
  });

  test.each([`${allowedOrigin}.evil.example`, 'http://localhost', 'null', 'HTTP://LOCALHOST:5173'])(
    'the origin %s may not',
    async (origin) => {
      const { status, headers } = await preflight(origin);
      expect(status).toBe(403);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  test('nor may a method that is not served', async () => {
    expect((await preflight(allowedOrigin, 'TRACE')).status).toBe(403);
  });
});
