import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { lacks, openTarget } from './target.ts';

const randomBytes = seededBytes(9);

const target = await openTarget();
const { client, bucket: Bucket, key } = target;
afterAll(() => target.close());

const mebibyte = 1024 * 1024;
const partBodies = [randomBytes(5 * mebibyte), randomBytes(5 * mebibyte + 1), randomBytes(1000)];
const wholeBody = Buffer.concat(partBodies);

/** An upload that declares the checksum that the SDK sends with each part, as the SDK's own uploads do. */
const begin = async (
  name: string,
  input: Partial<CreateMultipartUploadCommandInput> = { ChecksumAlgorithm: 'CRC32' },
) => {
  const Key = key(name);
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...input }));
  const upload = { Bucket, Key, UploadId: UploadId! };
  return {
    upload,
    part: async (PartNumber: number, Body: Buffer, more: object = {}): Promise<CompletedPart> => {
      const answer = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body, ...more }));
      const { ETag, ChecksumCRC32, ChecksumSHA256 } = answer;
      return { PartNumber, ETag, ChecksumCRC32, ChecksumSHA256 };
    },
    complete: (Parts: CompletedPart[], more: object = {}) =>
      client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts }, ...more })),
  };
};
const read = async (Key: string, Range?: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
  return Buffer.from(await Body!.transformToByteArray());
};

describe('multipart uploads', () => {
  test('parts sent in any order become one object, with ranges over their borders', async () => {
    const { upload, part, complete } = await begin('whole', {
      ...{ ContentType: 'a/b', Metadata: { m: '1' } },
      ChecksumAlgorithm: 'CRC32',
    });
    const parts = [];
    for (const index of [2, 0, 1]) parts[index] = await part(index + 1, partBodies[index]!);
    const { ETag } = await complete(parts);
    const md5s = partBodies.map((body) => createHash('md5').update(body).digest());
    expect(ETag).toBe(`"${createHash('md5').update(Buffer.concat(md5s)).digest('hex')}-3"`);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: upload.Key }));
    expect(head).toMatchObject({ ContentType: 'a/b', Metadata: { m: '1' }, ContentLength: wholeBody.length });
    expect((await read(upload.Key)).equals(wholeBody)).toBe(true);
    const border = 10 * mebibyte;
    const range = await read(upload.Key, `bytes=${5 * mebibyte - 2}-${border + 3}`);
    expect(range.equals(wholeBody.subarray(5 * mebibyte - 2, border + 4))).toBe(true);
  });

  test('a copy of one lives on without its source', async () => {
    const { upload, part, complete } = await begin('source');
    await complete([await part(1, partBodies[0]!), await part(2, partBodies[2]!)]);
    const CopySource = `${Bucket}/${upload.Key}`;
    await client.send(new CopyObjectCommand({ Bucket, Key: key('copy'), CopySource }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: upload.Key }));
    expect((await read(key('copy'))).equals(Buffer.concat([partBodies[0]!, partBodies[2]!]))).toBe(true);
  });

  test('a part sent again replaces the first, and parts not named are dropped', async () => {
    const { upload, part, complete } = await begin('again');
    await part(1, randomBytes(100));
    const first = await part(1, partBodies[2]!);
    await part(7, randomBytes(100));
    await complete([first]);
    expect((await read(upload.Key)).equals(partBodies[2]!)).toBe(true);
  });

  test('what is in progress is listed, until it is aborted', async () => {
    const { upload, part } = await begin('listed/one');
    await begin('listed/two');
    await part(2, partBodies[2]!);
    await part(9, partBodies[2]!);
    const parts = await client.send(new ListPartsCommand(upload));
    expect(parts).toMatchObject({ Parts: [{ PartNumber: 2, Size: 1000 }, { PartNumber: 9 }] });
    const list = () => client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: key('listed/') }));
    expect((await list()).Uploads!.map(({ Key }) => Key)).toEqual([key('listed/one'), key('listed/two')]);
    await client.send(new AbortMultipartUploadCommand(upload));
    expect((await list()).Uploads!.map(({ Key }) => Key)).toEqual([key('listed/two')]);
    const gone = { name: 'NoSuchUpload', $metadata: { httpStatusCode: 404 } };
    await expect(client.send(new ListPartsCommand(upload))).rejects.toMatchObject(gone);
  });

  test('completing again, as after a lost answer, succeeds with the same parts alone', async () => {
    const { upload, part, complete } = await begin('repeated');
    const [one, two] = [await part(1, partBodies[0]!), await part(2, partBodies[2]!)];
    const { ETag } = await complete([one, two]);
    expect(await complete([one, two])).toMatchObject({ ETag });
    expect((await read(upload.Key)).length).toBe(partBodies[0]!.length + partBodies[2]!.length);
    await client.send(new DeleteObjectCommand({ Bucket, Key: upload.Key }));
  });

  test.skipIf(lacks('own-server'))(
    'a completion that differs, or comes after the object, is refused',
    async () => {
      const { upload, part, complete } = await begin('late');
      const [one, two] = [await part(1, partBodies[0]!), await part(2, partBodies[2]!)];
      await complete([one, two]);
      await expect(complete([one])).rejects.toMatchObject({ name: 'NoSuchUpload' });
      await client.send(new PutObjectCommand({ Bucket, Key: upload.Key, Body: 'newer' }));
      await expect(complete([one, two])).rejects.toMatchObject({ name: 'NoSuchUpload' });
      expect((await read(upload.Key)).toString()).toBe('newer');
    },
  );

  test.skipIf(lacks('ended-uploads'))('nothing is added to what was aborted', async () => {
    const { upload, part } = await begin('ended');
    await client.send(new AbortMultipartUploadCommand(upload));
    await expect(part(1, partBodies[2]!)).rejects.toMatchObject({ name: 'NoSuchUpload' });
    await expect(read(upload.Key)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test.skipIf(lacks('part-order'))('parts are named in ascending order, each once', async () => {
    const { part, complete } = await begin('order');
    const [one, two] = [await part(1, partBodies[0]!), await part(2, partBodies[1]!)];
    await expect(complete([two, one])).rejects.toMatchObject({ name: 'InvalidPartOrder' });
    await expect(complete([one, one])).rejects.toMatchObject({ name: 'InvalidPartOrder' });
    await complete([one, two]);
  });

  test.skipIf(lacks('paged-parts'))('parts are listed page by page', async () => {
    const { upload, part } = await begin('parts');
    for (const number of [2, 9]) await part(number, partBodies[2]!);
    const first = await client.send(new ListPartsCommand({ ...upload, MaxParts: 1 }));
    expect(first).toMatchObject({ IsTruncated: true, Parts: [{ PartNumber: 2 }] });
    const PartNumberMarker = first.NextPartNumberMarker;
    const second = await client.send(new ListPartsCommand({ ...upload, PartNumberMarker }));
    expect(second).toMatchObject({ IsTruncated: false, Parts: [{ PartNumber: 9 }] });
  });

  test.skipIf(lacks('paged-parts'))('uploads are listed page by page', async () => {
    const ids = [];
    for (const name of ['paged/a', 'paged/a', 'paged/b']) ids.push((await begin(name)).upload.UploadId);
    const seen = [];
    let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (let more: boolean | undefined = true; more; ) {
      const page = await client.send(
        new ListMultipartUploadsCommand({ Bucket, Prefix: key('paged/'), MaxUploads: 1, ...marker }),
      );
      seen.push(...page.Uploads!.map(({ UploadId }) => UploadId));
      marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      more = page.IsTruncated;
    }
    expect(seen).toEqual(ids);
  });

  test('wrong completions are refused, and the upload stays', async () => {
    const { upload, part, complete } = await begin('wrong');
    const [small, last] = [await part(3, partBodies[2]!), await part(4, partBodies[2]!)];
    await expect(complete([small, last])).rejects.toMatchObject({ name: 'EntityTooSmall' });
    await expect(complete([{ ...last, ETag: '"0"' }])).rejects.toMatchObject({ name: 'InvalidPart' });
    await expect(complete([{ ...last, PartNumber: 7 }])).rejects.toMatchObject({ name: 'InvalidPart' });
    await expect(complete([])).rejects.toMatchObject({ $metadata: { httpStatusCode: 400 } });
    await complete([last]);
    expect((await read(upload.Key)).equals(partBodies[2]!)).toBe(true);
  });

  test.skipIf(lacks('invalid-arguments'))('part numbers are 1 to 10000', async () => {
    const { part } = await begin('numbers');
    await expect(part(0, partBodies[2]!)).rejects.toMatchObject({ name: 'InvalidArgument' });
    await expect(part(10_001, partBodies[2]!)).rejects.toMatchObject({ name: 'InvalidArgument' });
  });

  test('completing honours If-None-Match: *', async () => {
    const { upload, part, complete } = await begin('conditional');
    const one = await part(1, partBodies[2]!);
    await client.send(new PutObjectCommand({ Bucket, Key: upload.Key, Body: 'earlier' }));
    await expect(complete([one], { IfNoneMatch: '*' })).rejects.toMatchObject({ name: 'PreconditionFailed' });
    expect((await read(upload.Key)).toString()).toBe('earlier');
  });
});

describe.skipIf(lacks('multipart-checksums'))('checksums of multipart uploads', () => {
  test('SHA-256 is over those of the parts', async () => {
    const ChecksumAlgorithm = 'SHA256';
    const { part, complete } = await begin('composite', { ChecksumAlgorithm });
    const parts = [
      await part(1, partBodies[0]!, { ChecksumAlgorithm }),
      await part(2, partBodies[2]!, { ChecksumAlgorithm }),
    ];
    const digests = [partBodies[0]!, partBodies[2]!].map((body) =>
      createHash('sha256').update(body).digest(),
    );
    const value = `${createHash('sha256').update(Buffer.concat(digests)).digest('base64')}-2`;
    const bare = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag }));
    await expect(complete(bare)).rejects.toMatchObject({ name: 'InvalidRequest' });
    const wrong = parts.map((one) => ({ ...one, ChecksumSHA256: digests[1]!.toString('base64') }));
    await expect(complete(wrong)).rejects.toMatchObject({ name: 'InvalidPart' });
    expect(await complete(parts)).toMatchObject({ ChecksumSHA256: value, ChecksumType: 'COMPOSITE' });
  });

  test.each([
    ['CRC32', 'ChecksumCRC32', 'AAAAAA=='],
    ['CRC32C', 'ChecksumCRC32C', 'AAAAAA=='],
    ['CRC64NVME', 'ChecksumCRC64NVME', 'AAAAAAAAAAA='],
  ] as const)('%s of the full object is that of all bytes', async (ChecksumAlgorithm, member, wrong) => {
    const single = new PutObjectCommand({ Bucket, Key: key('single'), Body: wholeBody, ChecksumAlgorithm });
    const value = (await client.send(single))[member];
    const ChecksumType = 'FULL_OBJECT';
    const name = `full-${ChecksumAlgorithm}`;
    const { upload, part, complete } = await begin(name, { ChecksumAlgorithm, ChecksumType });
    const parts = [];
    for (const [index, body] of partBodies.entries())
      parts.push(await part(index + 1, body, { ChecksumAlgorithm }));
    const lie = complete(parts, { [member]: wrong, ChecksumType });
    await expect(lie).rejects.toMatchObject({ name: 'BadDigest' });
    const answer = await complete(parts, { [member]: value, ChecksumType });
    expect(answer).toMatchObject({ [member]: value, ChecksumType });
    expect((await read(upload.Key)).equals(wholeBody)).toBe(true);
  });

  test('a part with another algorithm is refused', async () => {
    const { part } = await begin('other', { ChecksumAlgorithm: 'SHA256' });
    await expect(part(1, partBodies[2]!)).rejects.toMatchObject({ name: 'InvalidRequest' });
  });

  test('a part with a checksum is refused where the upload declared none', async () => {
    const { part } = await begin('undeclared', {});
    await expect(part(1, partBodies[2]!)).rejects.toThrow(
      'expected checksum Type: null, actual checksum Type: crc32',
    );
  });
});
