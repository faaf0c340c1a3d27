import { createHash } from 'node:crypto';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawHttp } from './raw-http.ts';
import { lacks, openTarget } from './target.ts';

const target = await openTarget();
const { client, bucket: Bucket, key } = target;
const signedBody = 'signed body';
const bodySha256 = createHash('sha256').update(signedBody).digest('base64');

beforeAll(() => client.send(new PutObjectCommand({ Bucket, Key: key('get'), Body: 'presigned' })));
afterAll(() => target.close());

const signGet = (input: object = {}, options: object = {}) =>
  getSignedUrl(client, new GetObjectCommand({ Bucket, Key: key('get'), ...input }), options);

/** As the service signs uploads: length and checksum are among the signed headers. */
const signPut = (name: string, options: object = {}) =>
  getSignedUrl(
    client,
    new PutObjectCommand({
      Bucket,
      Key: key(name),
      ContentLength: signedBody.length,
      ChecksumSHA256: bodySha256,
    }),
    {
      unhoistableHeaders: new Set(['x-amz-checksum-sha256']),
      signableHeaders: new Set(['host', 'content-length']),
      ...options,
    },
  );

const exists = (name: string) =>
  client.send(new HeadObjectCommand({ Bucket, Key: key(name) })).then(
    () => true,
    () => false,
  );

describe('presigned GET', () => {
  test('works for anybody, with the headers it asks for', async () => {
    const url = await signGet({
      ResponseContentDisposition: 'attachment; filename="model.onnx"',
      ResponseContentType: 'application/x-model',
    });
    const answer = await rawHttp('GET', url, {});
    expect(answer.body).toBe('presigned');
    expect(answer.headers).toMatchObject({
      'content-disposition': 'attachment; filename="model.onnx"',
      'content-type': 'application/x-model',
    });
  });

  test.skipIf(lacks('signatures'))('is refused once expired, and before its time', async () => {
    const expired = await signGet({}, { expiresIn: 60, signingDate: new Date(Date.now() - 61_000) });
    expect(await rawHttp('GET', expired, {})).toMatchObject({ status: 403, code: 'AccessDenied' });
    const early = await signGet({}, { signingDate: new Date(Date.now() + 3_600_000) });
    expect(await rawHttp('GET', early, {})).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  test.skipIf(lacks('signatures')).each([
    ['key', (url: string) => url.replace('/get?', '/other?')],
    ['expiry', (url: string) => url.replace('X-Amz-Expires=900', 'X-Amz-Expires=901')],
    ['signature', (url: string) => url.replace(/(X-Amz-Signature=)./, '$1g')],
    ['parameter', (url: string) => `${url}&response-content-type=text/html`],
    ['method', (url: string) => url],
  ])('with another %s it is refused', async (what, tamper) => {
    const answer = await rawHttp(what === 'method' ? 'DELETE' : 'GET', tamper(await signGet()), {});
    expect([400, 403]).toContain(answer.status);
    expect(answer.body).not.toContain('presigned');
    expect(await exists('get')).toBe(true);
  });

  test.skipIf(lacks('signatures'))('a life of more than seven days is refused', async () => {
    const url = (await signGet()).replace('X-Amz-Expires=900', 'X-Amz-Expires=604801');
    expect((await rawHttp('GET', url, {})).code).toBe('AuthorizationQueryParametersError');
  });

  test.skipIf(lacks('signatures'))('a header that would be carried out must have been signed', async () => {
    const answer = await rawHttp('GET', await signGet(), { 'x-amz-meta-a': '1' });
    expect(answer).toMatchObject({ status: 403, code: 'AccessDenied' });
  });
});

describe('presigned PUT', () => {
  const headers = { 'content-length': String(signedBody.length), 'x-amz-checksum-sha256': bodySha256 };

  test('takes the body it was signed for', async () => {
    expect((await rawHttp('PUT', await signPut('good'), headers, signedBody)).status).toBe(200);
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key('good') }));
    expect(await Body!.transformToString()).toBe(signedBody);
  });

  test.skipIf(lacks('signatures'))('refuses another length', async () => {
    const longer = { ...headers, 'content-length': String(signedBody.length + 1) };
    const answer = await rawHttp('PUT', await signPut('length'), longer, `${signedBody}!`);
    expect(answer).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    expect(await exists('length')).toBe(false);
  });

  test.skipIf(lacks('signatures'))('refuses to go without the length', async () => {
    const chunked = { 'transfer-encoding': 'chunked', 'x-amz-checksum-sha256': bodySha256 };
    const answer = await rawHttp('PUT', await signPut('chunked'), chunked, signedBody);
    expect(answer).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    expect(await exists('chunked')).toBe(false);
  });

  test.skipIf(lacks('signatures'))('refuses another checksum, and none', async () => {
    const other = createHash('sha256').update('other').digest('base64');
    const changed = { ...headers, 'x-amz-checksum-sha256': other };
    expect((await rawHttp('PUT', await signPut('sum'), changed, signedBody)).code).toBe(
      'SignatureDoesNotMatch',
    );
    const without = { 'content-length': headers['content-length'] };
    expect((await rawHttp('PUT', await signPut('sum'), without, signedBody)).code).toBe(
      'SignatureDoesNotMatch',
    );
    expect(await exists('sum')).toBe(false);
  });

  test.skipIf(lacks('checksums'))('refuses another body of the same length', async () => {
    const answer = await rawHttp('PUT', await signPut('body'), headers, signedBody.toUpperCase());
    expect(answer).toMatchObject({ status: 400, code: 'BadDigest' });
    expect(await exists('body')).toBe(false);
  });

  test.skipIf(lacks('signatures'))('is refused once expired', async () => {
    const url = await signPut('late', { expiresIn: 1, signingDate: new Date(Date.now() - 5_000) });
    expect(await rawHttp('PUT', url, headers, signedBody)).toMatchObject({
      status: 403,
      code: 'AccessDenied',
    });
    expect(await exists('late')).toBe(false);
  });

  test.skipIf(lacks('checksums'))('a checksum carried in the URL counts like a header', async () => {
    const command = new PutObjectCommand({ Bucket, Key: key('hoisted'), ChecksumSHA256: bodySha256 });
    const url = await getSignedUrl(client, command);
    expect((await rawHttp('PUT', url, { 'content-length': '5' }, 'other')).code).toBe('BadDigest');
    expect(
      (await rawHttp('PUT', url, { 'content-length': headers['content-length'] }, signedBody)).status,
    ).toBe(200);
  });
});
