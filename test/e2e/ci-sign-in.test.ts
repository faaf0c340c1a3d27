import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pushClaims, startIssuer } from '../integration/auth/ci-issuer.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { startMps } from '../support/mps.ts';

const password = 'correct horse battery';
/** Reports an accuracy. */
const program = `echo '{"accuracy": 0.9, "step": 1}' >> "$METRICS_FILE"`;

let issuer: Awaited<ReturnType<typeof startIssuer>>;
let service: LocalService;
let scratch: string;
let folder: string;

/** Runs `mps` with the home of a person or a job. */
const mps = (home: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  startMps(args, { folder, home: join(scratch, home), environment, input: `${password}\n` }).ended;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ci-sign-in-'));
  folder = join(scratch, 'digits');
  await mkdir(join(folder, '.mps'), { recursive: true });
  await writeFile(
    join(folder, '.mps/ci.yaml'),
    'run: { command: sh train.sh }\nproject: digits\ngates: ["accuracy >= 0.5"]\n',
  );
  await writeFile(join(folder, 'train.sh'), program);
  issuer = await startIssuer();
  const environment = { ADMIN_PASSWORD: password, ISSUER_HOSTS: issuer.host };
  const started = await startLocalService(['--data', join(scratch, 'data')], environment);
  if (!('url' in started)) throw new Error(started.output);
  service = started;
  await mps('ada', ['login', service.url, '--user', 'admin']);
  // It makes the project.
  const made = await mps('ada', ['run', '-p', 'digits', '--', 'sh', 'train.sh']);
  expect(made.code, made.stderr).toBe(0);
});
afterAll(async () => {
  await service.end('SIGTERM');
  await issuer.close();
  await rm(scratch, { recursive: true, force: true });
});

/** The server of GitHub's runners, which signs a token for the audience that a job asks for. */
async function runnerOf(claims: Readonly<Record<string, unknown>>) {
  const server = createServer(async (request, response) => {
    const aud = new URL(request.url ?? '', 'http://a').searchParams.get('audience') ?? '';
    const value = await issuer.sign({ ...claims, aud });
    const isKnown = request.headers.authorization === 'Bearer of the runner';
    response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ value }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    environment: {
      MPS_URL: service.url,
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the runner',
    },
    [Symbol.dispose]: () => void server.close(),
  };
}

test('a job of GitHub trains and is judged with its identity token alone, and one of another branch is not', async () => {
  const added = await mps('ada', [
    ...['ci', 'trust', 'add', 'github', 'octo/digits', '--id', '11', '--owner-id', '22'],
    ...['--issuer', issuer.url, '--ref', 'main', '--project', 'digits'],
  ]);
  using main = await runnerOf(pushClaims);
  using other = await runnerOf({ ...pushClaims, ref: 'refs/heads/other' });

  const checked = await mps('github', ['ci', '--comment', 'never'], main.environment);
  const refused = await mps('github', ['ci', '--comment', 'never'], other.environment);
  const listed = await mps('ada', ['ls', '-p', 'digits', '--json']);

  expect(added.code, added.stderr).toBe(0);
  expect(checked, checked.stderr).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`Signed in to ${service.url} as ci:octo/digits.`),
  });
  // No check was made: 4 would say that a gate failed.
  expect([refused.code, refused.stderr]).toEqual([1, expect.not.stringContaining('Signed in')]);
  expect(listed.stdout).toContain('0.9');
});

test('a job of GitLab signs in with the token that its pipeline got for the address of the service', async () => {
  const added = await mps('ada', [
    ...['ci', 'trust', 'add', 'gitlab', 'group/digits', '--id', '77', '--ref', 'main', '--protected'],
    ...['--issuer', issuer.url, '--project', 'digits'],
  ]);
  const claims = {
    ...{ project_id: '77', project_path: 'group/digits', ref: 'main', ref_path: 'refs/heads/main' },
    ...{ ref_protected: 'true', user_login: 'grace', sha: 'abc', pipeline_id: '5' },
  };
  const MPS_ID_TOKEN = await issuer.sign({ ...claims, aud: service.url });
  const foreign = await issuer.sign({ ...claims, aud: 'http://elsewhere' });

  const printed = await mps('gitlab', ['ci', 'token'], { MPS_URL: service.url, MPS_ID_TOKEN });
  const ofToken = { MPS_URL: service.url, MPS_TOKEN: printed.stdout.trim() };
  const shown = await mps('gitlab', ['ls', '-p', 'digits'], ofToken);
  const refused = await mps('gitlab', ['ci', 'token'], { MPS_URL: service.url, MPS_ID_TOKEN: foreign });

  expect(added.code, added.stderr).toBe(0);
  expect([printed.code, shown.code], shown.stderr).toEqual([0, 0]);
  expect([refused.code, refused.stdout]).toEqual([4, '']);
});
