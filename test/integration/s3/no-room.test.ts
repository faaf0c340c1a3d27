import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { childBucket as Bucket, startChild } from './child-server.ts';
import { lacks } from './target.ts';

const randomBytes = seededBytes(10);

const run = promisify(execFile);
const hasPrlimit = process.platform === 'linux';

test.skipIf(lacks('own-server') || !hasPrlimit)(
  'where nothing more can be written, an upload is refused as one to try again, and nothing is left of it',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 's3-no-room-'));
    const server = await startChild(folder);
    const { client, process: child } = server;
    const limit = (bytes: string) =>
      run('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
    try {
      const Body = randomBytes(2_000_000);
      await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body }));
      await limit('1000000');
      const refused = client.send(
        new PutObjectCommand({ Bucket, Key: 'kept', Body: randomBytes(3_000_000) }),
      );
      await expect(refused).rejects.toMatchObject({
        name: 'ServiceUnavailable',
        $metadata: { httpStatusCode: 503 },
      });
      expect(readdirSync(join(folder, 'staging'))).toEqual([]);
      await limit('unlimited');
      const kept = await client.send(new GetObjectCommand({ Bucket, Key: 'kept' }));
      expect(Buffer.from(await kept.Body!.transformToByteArray()).equals(Body)).toBe(true);
      await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'again' }));
    } finally {
      await server.kill();
      rmSync(folder, { recursive: true });
    }
  },
);
