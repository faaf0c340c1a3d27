import { createHash } from 'node:crypto';
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { copyInParts } from '../../../shared/aws/copy-in-parts.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { lacks, openTarget } from './target.ts';

const randomBytes = seededBytes(7);

const target = await openTarget();
const { client, bucket: Bucket, key } = target;
afterAll(() => target.close());

const mebibyte = 1024 * 1024;
const whole = randomBytes(11 * mebibyte + 7);
const source = key('source of parts');
const sizes = { wholeBytes: 6 * mebibyte, partBytes: 5 * mebibyte, atOnce: 2 };

beforeAll(async () => {
  await client.send(new PutObjectCommand({ Bucket, Key: source, Body: whole }));
});

const read = async (Key: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from(await Body!.transformToByteArray());
};

describe('copies in parts', () => {
  test('join the very bytes of the source', async () => {
    const to = key('copied in parts');
    await copyInParts(client, Bucket, source, to, sizes);
    expect((await read(to)).equals(whole)).toBe(true);
    const { ETag } = await client.send(new HeadObjectCommand({ Bucket, Key: to }));
    const md5s = [0, 5, 10].map((first) =>
      createHash('md5')
        .update(whole.subarray(first * mebibyte, (first + 5) * mebibyte))
        .digest(),
    );
    expect(ETag).toBe(`"${createHash('md5').update(Buffer.concat(md5s)).digest('hex')}-3"`);
  });

  test('what is small is copied whole', async () => {
    const to = key('copied whole');
    await copyInParts(client, Bucket, source, to, { ...sizes, wholeBytes: whole.length });
    const { ETag } = await client.send(new HeadObjectCommand({ Bucket, Key: to }));
    expect(ETag).toBe(`"${createHash('md5').update(whole).digest('hex')}"`);
  });

  test('of what is not there leave nothing behind', async () => {
    const Prefix = key('never');
    await expect(copyInParts(client, Bucket, key('absent'), Prefix, sizes)).rejects.toThrow();
    const { Uploads } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
    expect(Uploads ?? []).toEqual([]);
  });

  test.skipIf(lacks('invalid-arguments'))('refuse ranges beyond the source', async () => {
    const upload = { Bucket, Key: key('ranges') };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(upload));
    const copy = (CopySourceRange: string, CopySource = `${Bucket}/${encodeURIComponent(source)}`) =>
      client.send(
        new UploadPartCopyCommand({ ...upload, UploadId, PartNumber: 1, CopySource, CopySourceRange }),
      );
    for (const range of [`bytes=0-${whole.length}`, 'bytes=5-4', 'bytes=0-', 'bytes=-5', 'x']) {
      await expect(copy(range), range).rejects.toMatchObject({ name: 'InvalidArgument' });
    }
    await expect(copy('bytes=0-1', `${Bucket}/absent`)).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(copy('bytes=0-1')).resolves.toHaveProperty('CopyPartResult.ETag');
  });

  test.skipIf(lacks('own-server'))('a range of a whole copy is not ignored', async () => {
    const CopySource = `${Bucket}/${encodeURIComponent(source)}`;
    const command = new CopyObjectCommand({ Bucket, Key: key('ranged'), CopySource });
    command.middlewareStack.add(
      // biome-ignore lint/suspicious/noExplicitAny: the SDK has no parameter for a header that S3 ignores
      (next) => (args: any) => {
        args.request.headers['x-amz-copy-source-range'] = 'bytes=0-1';
        return next(args);
      },
      { step: 'build' },
    );
    await expect(client.send(command)).rejects.toMatchObject({ name: 'NotImplemented' });
  });
});
