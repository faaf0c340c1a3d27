import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import {
  type ChecksumAlgorithm,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { rawHttp } from './raw-http.ts';
import { signRequest } from './sign-request.ts';
import { lacks, openTarget } from './target.ts';

const target = await openTarget();
const { client, bucket: Bucket, key } = target;
afterAll(() => target.close());

const nineDigits = '123456789';
/** The published check values of the algorithms. */
const checks: [ChecksumAlgorithm, string, string][] = [
  ['CRC32', 'ChecksumCRC32', 'cbf43926'],
  ['CRC32C', 'ChecksumCRC32C', 'e3069283'],
  ['CRC64NVME', 'ChecksumCRC64NVME', 'ae8b14860a799888'],
  ['SHA1', 'ChecksumSHA1', createHash('sha1').update(nineDigits).digest('hex')],
  ['SHA256', 'ChecksumSHA256', createHash('sha256').update(nineDigits).digest('hex')],
];

const put = (name: string, given: Record<string, string>, body: string, payload?: string) => {
  const url = new URL(`${target.url}/${Bucket}/${key(name)}`);
  const signed = signRequest(target, 'PUT', url, given, payload === undefined ? {} : { payload });
  return rawHttp('PUT', url, signed.headers, body);
};
const exists = (name: string) =>
  client.send(new HeadObjectCommand({ Bucket, Key: key(name) })).then(
    () => true,
    () => false,
  );
const length = { 'content-length': String(nineDigits.length) };

describe('checksums', () => {
  test.skipIf(lacks('checksums')).each(checks)(
    '%s given as a header is checked, kept and returned',
    async (algorithm, member, hex) => {
      const value = Buffer.from(hex, 'hex').toString('base64');
      const Key = key(algorithm);
      const answer = await client.send(
        new PutObjectCommand({ Bucket, Key, Body: nineDigits, [member]: value }),
      );
      expect(answer).toMatchObject({ [member]: value });
      const got = await client.send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
      expect(got).toMatchObject({ [member]: value });
      expect(await got.Body!.transformToString()).toBe(nineDigits);
    },
  );

  test.each(checks)('%s given as a trailer is checked and kept', async (ChecksumAlgorithm, member, hex) => {
    const value = Buffer.from(hex, 'hex').toString('base64');
    const input = { Bucket, Key: key(`trailer-${ChecksumAlgorithm}`), ContentLength: nineDigits.length };
    const Body = Readable.from([Buffer.from(nineDigits)]);
    await client.send(new PutObjectCommand({ ...input, Body, ChecksumAlgorithm }));
    const head = await client.send(
      new HeadObjectCommand({ Bucket, Key: input.Key, ChecksumMode: 'ENABLED' }),
    );
    expect(head).toMatchObject({ [member]: value });
  });

  test.skipIf(lacks('checksums')).each(checks)('a wrong %s is refused', async (algorithm, _, hex) => {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;
    const wrong = Buffer.from(
      hex.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
      'hex',
    );
    const answer = await put(`bad-${algorithm}`, { ...length, [name]: wrong.toString('base64') }, nineDigits);
    expect(answer).toMatchObject({ status: 400, code: 'BadDigest' });
    expect(await exists(`bad-${algorithm}`)).toBe(false);
  });

  test.skipIf(lacks('checksums'))('a wrong MD5 or payload hash is refused', async () => {
    const md5 = createHash('md5').update('other').digest('base64');
    expect((await put('md5', { ...length, 'content-md5': md5 }, nineDigits)).code).toBe('BadDigest');
    expect((await put('md5', { ...length, 'content-md5': 'abc' }, nineDigits)).code).toBe('InvalidDigest');
    const hash = createHash('sha256').update('other').digest('hex');
    expect((await put('md5', length, nineDigits, hash)).code).toBe('XAmzContentSHA256Mismatch');
    expect(await exists('md5')).toBe(false);
  });

  test.skipIf(lacks('checksums'))('contradictions are refused', async () => {
    const two = { 'x-amz-checksum-crc32': 'y/Q5Jg==', 'x-amz-checksum-crc32c': '4waSgw==' };
    expect((await put('two', { ...length, ...two }, nineDigits)).code).toBe('InvalidRequest');
    expect((await put('two', { ...length, 'x-amz-checksum-crc32': 'short' }, nineDigits)).code).toBe(
      'InvalidRequest',
    );
    const missing = { ...length, 'x-amz-sdk-checksum-algorithm': 'CRC32' };
    expect((await put('two', missing, nineDigits)).code).toBe('InvalidRequest');
  });
});

describe.skipIf(lacks('framing'))('bodies', () => {
  test('need a length', async () => {
    const answer = await put('nolength', { 'transfer-encoding': 'chunked' }, nineDigits);
    expect(answer).toMatchObject({ status: 411, code: 'MissingContentLength' });
  });

  test('larger than 5 GiB are refused before they are sent', async () => {
    const huge = { 'content-length': String(5 * 1024 ** 3 + 1), expect: '100-continue' };
    expect(await put('huge', huge, '')).toMatchObject({
      status: 400,
      code: 'EntityTooLarge',
      continued: false,
    });
  });

  test('are asked for where the client waits, unless the request is refused', async () => {
    const waiting = { ...length, expect: '100-continue' };
    expect(await put('expect', waiting, nineDigits)).toMatchObject({ status: 200, continued: true });
    const url = new URL(`${target.url}/${Bucket}/${key('expect')}`);
    expect(await rawHttp('PUT', url, waiting, nineDigits)).toMatchObject({ status: 403, continued: false });
  });
});

describe('aws-chunked bodies', () => {
  const unsigned = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(nineDigits));
  const announced = { 'x-amz-decoded-content-length': '9', 'x-amz-trailer': 'x-amz-checksum-crc32' };
  const trailer = `x-amz-checksum-crc32:${crc.toString('base64')}\r\n\r\n`;
  const send = (name: string, body: string, headers: Record<string, string> = announced) =>
    put(name, { ...headers, 'content-length': String(body.length) }, body, unsigned);

  test('may be cut anywhere', async () => {
    const body = `1\r\n1\r\n7\r\n2345678\r\n1\r\n9\r\n0\r\n${trailer}`;
    expect((await send('cut', body)).status).toBe(200);
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key('cut') }));
    expect(await Body!.transformToString()).toBe(nineDigits);
  });

  test.skipIf(lacks('framing')).each([
    ['cut off', `9\r\n${nineDigits}`, 'IncompleteBody'],
    ['with a chunk size that is none', `x\r\n${nineDigits}\r\n0\r\n${trailer}`, 'IncompleteBody'],
    ['with a chunk longer than it says', `8\r\n${nineDigits}\r\n0\r\n${trailer}`, 'IncompleteBody'],
    ['shorter than announced', `8\r\n12345678\r\n0\r\n${trailer}`, 'IncompleteBody'],
    ['longer than announced', `a\r\n${nineDigits}0\r\n0\r\n${trailer}`, 'IncompleteBody'],
    ['with more after the end', `9\r\n${nineDigits}\r\n0\r\n${trailer}more`, 'IncompleteBody'],
    ['without the trailer', `9\r\n${nineDigits}\r\n0\r\n\r\n`, 'MalformedTrailerError'],
    ['with a trailer that is none', `9\r\n${nineDigits}\r\n0\r\nnonsense\r\n\r\n`, 'MalformedTrailerError'],
    [
      'with a wrong checksum',
      `9\r\n${nineDigits}\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`,
      'BadDigest',
    ],
    ['with an endless chunk head', `9;${'x'.repeat(100_000)}`, 'IncompleteBody'],
  ])('%s are refused', async (_, body, code) => {
    expect(await send('refused', body)).toMatchObject({ status: 400, code });
    expect(await exists('refused')).toBe(false);
  });

  test.skipIf(lacks('framing'))('need the decoded length', async () => {
    const headers = { 'x-amz-trailer': 'x-amz-checksum-crc32' };
    const answer = await send('refused', `9\r\n${nineDigits}\r\n0\r\n${trailer}`, headers);
    expect(answer.code).toBe('MissingContentLength');
  });

  const signedPut = (tamper: (body: string) => string, withTrailer: boolean) => {
    const payload = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${withTrailer ? '-TRAILER' : ''}`;
    const url = new URL(`${target.url}/${Bucket}/${key('chain')}`);
    const trailing = withTrailer ? announced : { 'x-amz-decoded-content-length': '9' };
    const given = { ...trailing, 'transfer-encoding': 'chunked' };
    const signed = signRequest(target, 'PUT', url, given, { payload });
    let body = '';
    for (const data of ['1234', '56789', '']) {
      const head = `${data.length.toString(16)};chunk-signature=${signed.chunk(Buffer.from(data))}\r\n`;
      body += data === '' ? head : `${head}${data}\r\n`;
    }
    if (withTrailer) {
      const line = `x-amz-checksum-crc32:${crc.toString('base64')}`;
      body += `${line}\r\nx-amz-trailer-signature:${signed.trailer(`${line}\n`)}\r\n`;
    }
    return rawHttp('PUT', url, signed.headers, tamper(`${body}\r\n`));
  };

  test.each([false, true])('signed chunk by chunk are accepted, trailer %s', async (withTrailer) => {
    expect((await signedPut((body) => body, withTrailer)).status).toBe(200);
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key('chain') }));
    expect(await Body!.transformToString()).toBe(nineDigits);
  });

  test.skipIf(lacks('signatures')).each([
    ['data', (body: string) => body.replace('56789', '56780')],
    ['a chunk signature', (body: string) => body.replace(/(chunk-signature=)\w{64}/, `$1${'0'.repeat(64)}`)],
    ['a missing chunk signature', (body: string) => body.replace(/;chunk-signature=\w{64}/, '')],
    ['the trailer', (body: string) => body.replace('x-amz-checksum-crc32:', 'x-amz-checksum-crc32:A')],
    ['a missing trailer signature', (body: string) => body.replace(/x-amz-trailer-signature:\w+\r\n/, '')],
  ])('with %s changed they are refused', async (_, tamper) => {
    expect(await signedPut(tamper, true)).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
  });
});
