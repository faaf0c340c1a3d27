import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { startS3Server } from '../../../infra/local/s3/s3-server.ts';
import type { Signer } from './sign-request.ts';

/** What another S3 implementation may lack; S3_ACCEPTANCE_WITHOUT=a,b leaves out the tests of it. */
export type Feature =
  | 'own-server' // this server's own limits and files; always left out of others
  | 'signatures' // requests whose signature is absent, wrong, expired or incomplete are refused
  | 'checksums' // bodies that do not match what was announced are refused
  | 'framing' // announced lengths, `Expect: 100-continue` and the aws-chunked framing are enforced
  | 'conditional-deletes' // If-Match on DeleteObject and in DeleteObjects
  | 'multipart-checksums' // checksums of multipart uploads are verified
  | 'ended-uploads' // a part for an aborted upload is refused as such
  | 'part-order' // parts out of order are refused
  | 'paged-parts' // ListParts keeps to max-parts
  | 'invalid-arguments' // values out of range are refused
  | 'cors'; // origins are told apart

export interface Target extends Signer {
  url: string;
  bucket: string;
  client: S3Client;
  /** A client with other settings. */
  clientWith(config: S3ClientConfig): S3Client;
  /** A key that no other test file uses. */
  key(name: string): string;
  /** Creates a bucket of that name, and returns it. */
  newBucket(name: string): Promise<string>;
  close(): Promise<void>;
}

export const allowedOrigin = 'http://localhost:5173';

const environment = (name: string) => process.env[`S3_ACCEPTANCE_${name}`];

/** Whether the endpoint under test is said to lack a feature. */
export function lacks(feature: Feature): boolean {
  if (environment('ENDPOINT') === undefined) return false;
  return feature === 'own-server' || (environment('WITHOUT') ?? '').split(',').includes(feature);
}

/** The endpoint that S3_ACCEPTANCE_ENDPOINT names, with its bucket and credentials, or a server of our own. */
export async function openTarget(): Promise<Target> {
  const endpoint = environment('ENDPOINT');
  const region = environment('REGION') ?? 'us-east-1';
  const bucket = environment('BUCKET') ?? 'acceptance';
  const credentials = {
    accessKeyId: environment('ACCESS_KEY_ID') ?? 'acceptance-key',
    secretAccessKey: environment('SECRET_ACCESS_KEY') ?? 'acceptance/secret+',
  };
  const own = endpoint === undefined ? await startOwn(region, bucket, credentials) : undefined;
  const url = own?.url ?? endpoint ?? '';
  const clientWith = (config: S3ClientConfig) =>
    new S3Client({ endpoint: url, region, credentials, forcePathStyle: true, ...config });
  const client = clientWith({});
  const prefix = `${randomBytes(4).toString('hex')}/`;
  return {
    url,
    bucket,
    region,
    credentials,
    client,
    clientWith,
    key: (name) => prefix + name,
    newBucket: async (name) => {
      await client.send(new CreateBucketCommand({ Bucket: name }));
      return name;
    },
    close: async () => {
      client.destroy();
      await own?.close();
    },
  };
}

async function startOwn(region: string, bucket: string, credentials: Signer['credentials']) {
  const folder = await mkdtemp(join(tmpdir(), 's3-acceptance-'));
  const server = await startS3Server({
    folder,
    port: 0,
    region,
    credentials,
    buckets: [bucket, 'second'],
    corsOrigins: [allowedOrigin],
  });
  return {
    url: server.url,
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}
