import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thisHost } from '../../shared/host/this-host.ts';
import { listeningPorts } from '../support/listening-ports.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { sampled } from '../support/samples.ts';
import { testUser } from '../support/test-users.ts';

const isRoot = process.getuid?.() === 0;
const { uid } = testUser('a service of their own');
const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];
const cannotBeUser =
  !isRoot || spawnSync(asUser[0] ?? '', [...asUser.slice(1), process.execPath, '-v']).status !== 0;

/** Tries everything that would tell or harm something of the service; every line of it that says GOT is a finding. */
const hostile = (data: string, pid: number, ports: readonly number[]): string =>
  [
    `for file in ${data}/credentials.json ${data}/admin-password ${data}/dynamodb/records.db ${data}/logs; do cat $file && echo GOT $file; done`,
    `ls ${data}/dynamodb/socket-* && echo GOT socket`,
    `ls -d /proc/${pid} && echo GOT process`,
    `cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep AWS_SECRET && echo GOT credentials`,
    `kill -9 ${pid} && echo GOT kill`,
    `ls -d ${data}/work/*/ | grep -v $EXPERIMENT_ID && echo GOT neighbours`,
    `touch ${data}/mine; echo "import evil" >> ${process.cwd()}/package.json && echo GOT program`,
    `for port in ${ports.join(' ')}; do exec 3<>/dev/tcp/127.0.0.1/$port; printf "POST / HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\ncontent-type: application/x-amz-json-1.0\\r\\nx-amz-target: DynamoDB_20120810.ListTables\\r\\nx-amz-date: 20260101T000000Z\\r\\nauthorization: AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0\\r\\ncontent-length: 2\\r\\n\\r\\n{}" >&3; timeout 5 cat <&3 | grep TableNames && echo GOT tables; exec 3>&-; done`,
    'echo tried everything',
  ].join('\n');

// In this order: the first service builds the local bundle, for which another user finds no room in this checkout.
describe('a hostile training,', { shuffle: false }, () => {
  const users: [string, readonly string[], boolean][] = [
    ['whoever runs this', [], false],
    ['an ordinary user, on a service of their own', asUser, cannotBeUser],
  ];

  describe.runIf(thisHost.canSandbox()).each(sampled(users, 2))('as %s', (_, through, isSkipped) => {
    let folder: string;
    let service: LocalService;

    // One for all of them, so that each also shows that those before it did no harm.
    beforeAll(async () => {
      if (isSkipped) return;
      folder = await mkdtemp(join(tmpdir(), 'mps-hostile-'));
      await chmod(folder, 0o711);
      if (through.length > 0) await chown(folder, uid, uid);
      const environment = { ADMIN_PASSWORD: 'a long enough password', HOME: folder };
      const started = await startLocalService(['--data', join(folder, 'data')], environment, through);
      if (!('url' in started)) throw new Error(started.output);
      service = started;
    });
    afterAll(async () => {
      if (isSkipped) return;
      await service?.end('SIGKILL').catch(() => undefined);
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    });

    async function train(
      command: string,
      query = '',
    ): Promise<{ status: string; reason: string; log: string }> {
      const body = new URLSearchParams({
        grant_type: 'password',
        username: 'admin',
        password: 'a long enough password',
      });
      const signed = await fetch(`${service.url}/auth/token`, { method: 'POST', body });
      const { access_token } = (await signed.json()) as { access_token: string };
      const headers = { Authorization: `Bearer ${access_token}` };
      const call = async <T>(method: string, path: string, more: RequestInit = {}): Promise<T> => {
        const answer = await fetch(`${service.url}${path}`, { method, headers, ...more });
        const text = await answer.text();
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
        return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : (text as T);
      };
      const named = 'project-name=p&project-description=d&project-type=t&project-task=classification';
      const { project_id } = await call<{ project_id: string }>('POST', `/projects/?${named}`);
      await call('PUT', `/projects/${project_id}/configs/train.yaml`, { body: 'a: 1' });
      const environment = new URLSearchParams({
        env_type: 'system',
        dependencies: 'none',
        entry_point_command: command,
      });
      await call('PUT', `/projects/${project_id}/environment?${environment}`);
      const begun = await call<{ experiment_id: string }>(
        'POST',
        `/projects/${project_id}/train?config=train.yaml${query}`,
      );
      const path = `/projects/${project_id}/experiments/${begun.experiment_id}`;
      const read = () => call<{ status: string; status_reason: string }>('GET', path);
      await expect.poll(async () => (await read()).status, { interval: 200 }).toMatch(/SUCCEEDED|FAILED/);
      const { status, status_reason: reason } = await read();
      const log = await call<string>('GET', `${path}/logs`, {
        headers: { ...headers, Accept: 'text/plain' },
      });
      return { status, reason, log };
    }

    test.skipIf(isSkipped)('finds nothing of the service, and harms nothing', async () => {
      const before = await readFile('package.json', 'utf8');
      const ports = await listeningPorts(service.pid);
      const script = hostile(join(folder, 'data'), service.pid, ports);
      const { status, log } = await train(`bash -c '${script}'`);
      expect(log).toContain('tried everything');
      expect(log).not.toContain('GOT');
      expect(status).toBe('SUCCEEDED');
      expect((await fetch(`${service.url}/health`)).status).toBe(200);
      expect(await readFile('package.json', 'utf8')).toBe(before);
    });

    test.skipIf(isSkipped)('that takes all memory is ended, once, and the reason says so', async () => {
      const take = `${process.execPath} -e "const held = []; for (;;) held.push(Buffer.alloc(1e7, 1))"`;
      const { status, reason, log } = await train(take, '&memory=512');
      expect({ status, reason }).toEqual({
        status: 'FAILED',
        reason: 'The command exceeded its 512 MiB of memory and was ended.',
      });
      expect(log.match(/Attempt \d/g)).toEqual(['Attempt 1']);
      expect((await fetch(`${service.url}/health`)).status).toBe(200);
    });
  });
});
