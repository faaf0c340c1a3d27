import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type RunningDynamoDb, startDynamoDb } from '../../infra/local/dynamodb/start-dynamodb.ts';
import { startS3Server } from '../../infra/local/s3/s3-server.ts';
import { bundleJobPrograms } from './job-programs.ts';
import { uvOfTests } from './uv-of-tests.ts';

export const testCredentials = { accessKeyId: 'test', secretAccessKey: 'test-secret' };
export const testBucket = 'test-bucket';
export const testRegion = 'eu-central-1';

declare module 'vitest' {
  interface ProvidedContext {
    dynamoDbUrl: string;
    s3Url: string;
    /** The folder of the bundled programs of jobs. */
    jobPrograms: string;
  }
}

/** Starts the emulators that all test files share; each file has tables and projects of its own. */
export function setup(project: TestProject): Promise<() => Promise<void>> {
  return startSharedEmulators(project, '127.0.0.1');
}

/** The same on another address of this machine. */
export async function startSharedEmulators(project: TestProject, host: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-test-'));
  const dynamoDb: RunningDynamoDb = await startDynamoDb(undefined, host);
  const s3 = await startS3Server({
    folder: join(folder, 's3'),
    port: 0,
    host,
    region: testRegion,
    credentials: testCredentials,
    buckets: [testBucket],
  });
  const programs = await bundleJobPrograms();
  const uv = await uvOfTests();
  // Workers and all that they start inherit it.
  if (uv !== '') process.env['PATH'] = `${uv}:${process.env['PATH']}`;
  // Most of the programs that tests start have been compiled by others before.
  process.env['NODE_COMPILE_CACHE'] = join(programs, 'compiled');
  // esbuild's collector of garbage takes a fifth of the time of large bundles.
  process.env['GOGC'] ??= '400';
  project.provide('jobPrograms', programs);
  project.provide('dynamoDbUrl', dynamoDb.url);
  project.provide('s3Url', s3.url);
  return async () => {
    await Promise.all([dynamoDb.close(), s3.close()]);
    await rm(folder, { recursive: true, force: true });
  };
}
