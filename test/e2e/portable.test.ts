import { createHash } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isAlive } from '../../shared/host/is-alive.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { onnxFixture } from '../support/model.ts';
import { everySample } from '../support/samples.ts';
import { testUser } from '../support/test-users.ts';

interface Experiment {
  experiment_id: string;
  status: string;
  status_reason: string | null;
  attempt: number;
  limits: Record<string, string>;
}

const { uid } = testUser('a portable service of their own');
const isRoot = process.getuid?.() === 0;
/** Without MPS_HOST, so that a host without /proc chooses the portable one itself. */
const hideProc = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs tmpfs /proc && exec "$@"', 'sh'];
const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];

interface Machine {
  through: readonly string[];
  environment: Readonly<Record<string, string>>;
  asOther?: boolean;
  memory: string;
  separation: string;
}

const asked = { MPS_HOST: 'portable' };
const ofRoot = isRoot ? 'user' : 'none';
const machines: [string, Machine][] = [
  ['asked for', { through: [], environment: asked, memory: 'watched', separation: ofRoot }],
  ['without /proc', { through: hideProc, environment: {}, memory: 'not enforced', separation: ofRoot }],
  [
    'of an ordinary user',
    { through: asUser, environment: asked, asOther: true, memory: 'watched', separation: 'none' },
  ],
];

// In this order: the first service builds the bundle, for which another user finds no room in this checkout.
describe('a portable host,', { shuffle: false }, () => {
  describe.each(isRoot && everySample ? machines : machines.slice(0, 1))(
    '%s,',
    (_name, { through, environment, asOther = false, memory, separation }) => {
      let folder: string;
      let service: LocalService;
      let headers: Record<string, string>;
      let project: string;

      async function start(): Promise<void> {
        const own = { ADMIN_PASSWORD: 'a long enough password', HOME: folder, ...environment };
        // A path as people have them.
        const started = await startLocalService(['--data', join(folder, 'Müllers Daten')], own, through);
        if (!('url' in started)) throw new Error(started.output);
        service = started;
      }

      async function call<T>(method: string, path: string, more: RequestInit = {}): Promise<T> {
        const answer = await fetch(`${service.url}${path}`, { method, headers, ...more });
        const text = await answer.text();
        if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
        return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : (text as T);
      }

      const pathOf = (id: string) => `/projects/${project}/experiments/${id}`;
      const read = (id: string) => call<Experiment>('GET', pathOf(id));
      const log = (id: string) =>
        call<string>('GET', `${pathOf(id)}/logs`, { headers: { ...headers, Accept: 'text/plain' } });

      async function begin(entry_point_command: string): Promise<string> {
        const query = new URLSearchParams({ env_type: 'system', dependencies: 'none', entry_point_command });
        await call('PUT', `/projects/${project}/environment?${query}`);
        return (await call<Experiment>('POST', `/projects/${project}/train?config=train.yaml`)).experiment_id;
      }

      /** Pids that a run has printed: of itself, of a child, and of its supervisor. */
      async function pidsOf(id: string): Promise<{ own: number; child: number; supervisor: number }> {
        await expect.poll(() => log(id)).toMatch(/pids \d+ \d+ \d+\n/);
        const [, own, child, supervisor] = /pids (\d+) (\d+) (\d+)\n/.exec(await log(id)) ?? [];
        return { own: Number(own), child: Number(child), supervisor: Number(supervisor) };
      }
      const saying = (then: string) => `bash -c 'sleep 600 & echo pids $$ $! $PPID; ${then}'`;

      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'mps portäble-'));
        await chmod(folder, 0o711);
        if (asOther) await chown(folder, uid, uid);
        await start();
        const [grant_type, username, password] = ['password', 'admin', 'a long enough password'];
        const body = new URLSearchParams({ grant_type, username, password });
        const answer = await fetch(`${service.url}/auth/token`, { method: 'POST', body });
        const { access_token } = (await answer.json()) as { access_token: string };
        headers = { Authorization: `Bearer ${access_token}` };
      });

      beforeEach(async () => {
        const query = 'project-name=p&project-description=d&project-type=t&project-task=classification';
        project = (await call<{ project_id: string }>('POST', `/projects/?${query}`)).project_id;
        await call('PUT', `/projects/${project}/configs/train.yaml`, { body: 'a: 1' });
      });

      afterAll(async () => {
        await service?.end('SIGKILL').catch(() => undefined);
        await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      });

      test('says in two lines what it cannot do', () => {
        const warnings = service
          .output()
          .split('\n')
          .filter((line) => line.startsWith('WARNING'));

        expect(warnings).toEqual([
          expect.stringMatching(
            /^WARNING: On this host \(portable, [\w-]+\) trainings are not separated from the service/,
          ),
          expect.stringContaining(
            memory === 'watched' ? 'summed by ps' : 'The memory of jobs is not limited, because ps',
          ),
        ]);
      });

      test('trains to the outcome, keeps the artifacts, and says how it limits', async () => {
        const id = await begin(
          `bash -c 'echo trained; echo {"\\"loss\\"": 0.5} >> "$METRICS_FILE"; echo 1 > "$OUTPUT_DIR/a.txt"'`,
        );

        await expect.poll(async () => (await read(id)).status).toMatch(/SUCCEEDED|FAILED/);

        const experiment = await read(id);
        expect(experiment.status, `${experiment.status_reason} ${await log(id)}`).toBe('SUCCEEDED');
        expect(experiment.limits).toEqual({ memory, vcpus: 'not enforced', separation });
        expect(await log(id)).toContain('trained');
        const artifacts = await call<{ path: string }[]>('GET', `${pathOf(id)}/artifacts`);
        expect(artifacts.map(({ path }) => path)).toEqual(['a.txt']);
      });

      test.runIf(everySample)(
        'cancels a training, which may save before it ends with its children',
        async () => {
          const id = await begin(saying('trap "echo saved; exit 3" TERM; while :; do sleep 0.05; done'));
          const { own, child } = await pidsOf(id);

          await call('POST', `${pathOf(id)}/cancel`);

          await expect.poll(async () => (await read(id)).status).toBe('CANCELLED');
          expect(await log(id)).toContain('saved');
          await expect.poll(() => [own, child].filter(isAlive)).toEqual([]);
        },
      );

      test('ends what a killed supervisor left, and says that it was killed', async () => {
        const id = await begin(saying('while :; do sleep 0.05; done'));
        const { own, child, supervisor } = await pidsOf(id);

        process.kill(supervisor, 'SIGKILL');

        await expect.poll(async () => (await read(id)).status).toBe('FAILED');
        expect((await read(id)).status_reason).toContain('its process was killed (signal 9)');
        await expect.poll(() => [own, child].filter(isAlive)).toEqual([]);
      });

      test.runIf(everySample)(
        'is killed as a whole, leaves nothing that runs, and takes the training up again',
        async () => {
          const gate = join(folder, 'gate');
          const id = await begin(saying(`[ -e "${gate}" ] && exit 0; sleep 600; exit 1`));
          const { own, child, supervisor } = await pidsOf(id);

          await service.end('SIGKILL');

          await expect.poll(() => [own, child, supervisor].filter(isAlive)).toEqual([]);
          await writeFile(gate, '');
          await start();
          await expect.poll(async () => (await read(id)).status).toMatch(/SUCCEEDED|FAILED/);
          expect(await read(id)).toMatchObject({ status: 'SUCCEEDED', attempt: 2 });
        },
      );

      test.runIf(everySample)('quantizes a model', async () => {
        const bytes = onnxFixture('digits.onnx');
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        const { upload } = await call<{
          upload: { url: string; method: string; headers: Record<string, string> };
        }>('POST', `/optimization/models/digits?sha256=${sha256}&size=${bytes.length}`);
        const { 'content-length': _, ...sent } = upload.headers;
        await fetch(upload.url, { method: upload.method, headers: sent, body: Buffer.from(bytes) });
        await call('PUT', '/optimization/models/digits');

        const { strategy_id } = await call<{ strategy_id: string }>(
          'POST',
          '/optimization/quantize?model_name=digits&strategy=dynamic&precision=8',
        );

        const strategy = () =>
          call<{ status: string; status_reason: string; limits: unknown }>(
            'GET',
            `/optimization/quantize/strategies/${strategy_id}`,
          );
        await expect.poll(async () => (await strategy()).status).toMatch(/SUCCEEDED|FAILED/);
        expect(await strategy()).toMatchObject({
          status: 'SUCCEEDED',
          status_reason: null,
          limits: { memory, separation },
        });
      });
    },
  );
});
