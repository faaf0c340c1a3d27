import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { S3Client } from '@aws-sdk/client-s3';
import type { S3ServerOptions } from '../../../infra/local/s3/s3-server.ts';
import { jobProgram } from '../../support/job-programs.ts';

const credentials = { accessKeyId: 'child-key', secretAccessKey: 'child-secret' };
export const childBucket = 'child';

export interface ChildServer {
  url: string;
  process: ChildProcess;
  client: S3Client;
  /** Ends the process as a crash would. */
  kill(): Promise<void>;
  /** Ends its stdin, as the death of its parent would. */
  endInput(): void;
  /** Its exit code, once it has ended. */
  ended: Promise<number | null>;
}

/** Runs the server's process entry on a folder. */
export async function startChild(folder: string): Promise<ChildServer> {
  const child = spawn(process.execPath, [jobProgram('infra/local/s3/main.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const options: S3ServerOptions = {
    folder,
    port: 0,
    region: 'us-east-1',
    credentials,
    buckets: [childBucket],
  };
  child.stdin.write(`${JSON.stringify(options)}\n`);
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('The server did not start.'))),
  ]);
  const { url } = JSON.parse(line);
  const client = new S3Client({
    endpoint: url,
    region: 'us-east-1',
    credentials,
    forcePathStyle: true,
    maxAttempts: 1,
  });
  const ended = once(child, 'exit').then(() => child.exitCode);
  return {
    url,
    process: child,
    client,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
      client.destroy();
    },
    endInput: () => child.stdin.end(),
    ended,
  };
}

/** A memory figure of a process in bytes, from /proc. */
export async function memory(child: ChildServer, figure: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${child.process.pid}/status`, 'utf8');
  return Number(new RegExp(`^${figure}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
}
