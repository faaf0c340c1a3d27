import { readdir, readFile, readlink } from 'node:fs/promises';
import { BatchClient, DescribeJobsCommand } from '@aws-sdk/client-batch';
import type { Credentials } from '../../../../infra/local/start/data-folder.ts';

/** Ports at which a process listens on this machine: Linux only. */
async function portsOf(pid: number): Promise<number[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`);
  const links = descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => ''));
  const sockets = new Set(
    (await Promise.all(links)).flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []),
  );
  const [, ...rows] = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).trim().split('\n');
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === '0A' && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
}

/** What the Batch server within a service says of these jobs, as JSON. */
export async function describeJobs(pid: number, credentials: Credentials, jobs: string[]): Promise<string> {
  for (const port of await portsOf(pid)) {
    const endpoint = `http://127.0.0.1:${port}`;
    const client = new BatchClient({ region: 'us-east-1', endpoint, credentials, maxAttempts: 1 });
    try {
      const { jobs: found = [] } = await client.send(new DescribeJobsCommand({ jobs }));
      if (found.length > 0) return JSON.stringify(found);
    } catch {
      // The port of something else.
    } finally {
      client.destroy();
    }
  }
  throw new Error('no Batch server answered');
}
