import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { loopbackGithub } from '../../support/ci/loopback-github.ts';
import { loopbackGitlab } from '../../support/ci/loopback-gitlab.ts';
import { runMps } from '../../support/mps.ts';
import { everySample } from '../../support/samples.ts';

const model = fileURLToPath(new URL('../../fixtures/onnx/digits.onnx', import.meta.url));
const gates = (...texts: string[]) =>
  `model: models/digits.onnx\nseconds: 0.1\ngates: ${JSON.stringify(texts)}\n`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-ci-model-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const git = async (...args: string[]) => {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];
  return (await promisify(execFile)('git', [...identity, ...args], { cwd: folder })).stdout.trim();
};
const commit = async (message: string) => {
  await git('add', '-A');
  await git('commit', '-qm', message);
  return git('rev-parse', 'HEAD');
};

/** A repository with a model on main, and a branch whose model has more bytes. */
async function repository(file: string): Promise<string> {
  await git('init', '-q');
  await mkdir(join(folder, '.mps'));
  await mkdir(join(folder, 'models'));
  await copyFile(model, join(folder, 'models/digits.onnx'));
  await writeFile(join(folder, '.mps/ci.yaml'), file);
  await writeFile(join(folder, '.gitignore'), 'mps-ci.*\nevent.json\nsummary.md\n');
  await commit('Model');
  await git('checkout', '-qb', 'larger');
  // A field that readers of protobuf skip.
  const bytes = await readFile(model);
  await writeFile(
    join(folder, 'models/digits.onnx'),
    Buffer.concat([bytes, Buffer.from([0xfa, 0x3f, 0x64]), Buffer.alloc(100)]),
  );
  return commit('Larger');
}

const ci = (environment: Record<string, string> = {}, ...args: string[]) =>
  runMps(['ci', ...args], { folder, home: folder, environment });

/** The variables and the event of a job for a pull request. */
async function job(url: string, sha: string, { fork = false } = {}): Promise<Record<string, string>> {
  const repo = { full_name: 'octo/digits' };
  const pull_request = {
    number: 7,
    head: { sha, repo: fork ? { full_name: 'stranger/digits' } : repo },
    base: { ref: 'main', repo },
  };
  await writeFile(join(folder, 'event.json'), JSON.stringify({ pull_request }));
  return {
    ...{
      GITHUB_ACTIONS: 'true',
      GITHUB_API_URL: url,
      GITHUB_REPOSITORY: 'octo/digits',
      GITHUB_TOKEN: 'ghs_secret',
    },
    ...{ GITHUB_RUN_ID: '41', GITHUB_RUN_ATTEMPT: '1', GITHUB_EVENT_PATH: join(folder, 'event.json') },
    GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
  };
}

test('a model is compared with that of the target branch, and one comment tells it', async () => {
  const sha = await repository(gates('bytes <= base', 'error <= 0.01'));
  const github = await loopbackGithub();
  github.head = sha;
  // More than a page of what others wrote, a forged marker among it.
  const user = { login: 'somebody', type: 'User' };
  const forged =
    '<!-- mps:ci project= file=.mps%2Fci.yaml commit=ff time=9999999999 run=9.9 verdict=passed -->';
  for (let id = 1001; id <= 1120; id += 1)
    github.comments.push({ id, body: id === 1050 ? forged : 'hm', user });
  github.limits = 1;
  const environment = await job(github.url, sha);

  const first = await ci(environment);
  const second = await ci({ ...environment, GITHUB_RUN_ATTEMPT: '2' });

  expect([first.code, second.code]).toEqual([4, 4]);
  expect(first.stdout).toMatch(/FAILED {2}bytes <= base: .*\nPASSED {2}error <= 0.01/);
  const own = github.comments.filter(({ user: { type } }) => type === 'Bot');
  expect(own).toHaveLength(1);
  expect(own[0]?.body).toContain('1 of 2 gates fails');
  expect(own[0]?.body).toContain('run=41.2');
  expect(await readFile(join(folder, 'summary.md'), 'utf8')).toContain('1 of 2 gates fails');
  expect(JSON.parse(await readFile(join(folder, 'mps-ci.json'), 'utf8'))).toMatchObject({
    verdict: 'failed',
    commit: sha,
  });
  expect(github.faults).toEqual([]);
  expect(github.requests.every(({ authorization }) => authorization === 'Bearer ghs_secret')).toBe(true);
  expect(JSON.stringify([first, second])).not.toContain('ghs_secret');
});

test.runIf(everySample)(
  'a fork, missing rights and a missing token write the summary and say what to do',
  async () => {
    const sha = await repository(gates('bytes <= 1.2x'));
    const github = await loopbackGithub();
    github.readOnly = true;

    const fork = await ci(await job(github.url, sha, { fork: true }));
    expect(fork).toMatchObject({ code: 0, stderr: expect.stringContaining('workflow_run') });
    expect(github.requests).toEqual([]);
    // The second stage reads what the fork left as a stranger's text.
    Object.assign(github, { readOnly: false, head: sha });
    const report = JSON.parse(await readFile(join(folder, 'mps-ci.json'), 'utf8'));
    const workflow_run = {
      ...{ head_sha: sha, head_branch: 'larger', head_repository: { owner: { login: 'stranger' } } },
      ...{ id: 50, run_attempt: 1 },
    };
    const later = await job(github.url, sha);
    await writeFile(join(folder, 'event.json'), JSON.stringify({ workflow_run }));
    await writeFile(
      join(folder, 'mps-ci.json'),
      JSON.stringify({
        ...{ ...report, notes: ['@team <img>'] },
        head: { name: 'all is well', link: 'https://evil.example/' },
      }),
    );
    expect((await ci(later, 'comment', 'mps-ci.json')).code).toBe(0);
    expect(github.comments[0]?.body).toContain('&#64;&#8288;team');
    expect(github.comments[0]?.body).not.toContain('evil');
    await writeFile(join(folder, 'mps-ci.json'), JSON.stringify({ ...report, values: Array(1000).fill({}) }));
    const rows = await ci(later, 'comment', 'mps-ci.json');
    expect(rows).toMatchObject({ code: 2, stderr: expect.stringContaining('values.0') });
    expect(rows.stderr.length).toBeLessThan(500);
    await writeFile(join(folder, 'mps-ci.json'), JSON.stringify({ ...report, commit: 'f'.repeat(40) }));
    expect((await ci(later, 'comment', 'mps-ci.json')).code).toBe(2);
    Object.assign(github, { readOnly: true, comments: [] });
    const refused = await ci(await job(github.url, sha));
    expect(refused).toMatchObject({ code: 0, stderr: expect.stringContaining('pull-requests: write') });
    const always = await ci({ ...(await job(github.url, sha)), GITHUB_TOKEN: '' }, '--comment', 'always');
    expect(always).toMatchObject({ code: 1, stderr: expect.stringContaining('GITHUB_TOKEN') });
    expect(await readFile(join(folder, 'mps-ci.md'), 'utf8')).toContain('1 gate holds');
    expect(github.faults).toEqual([]);
  },
);

test('without a base the check passes loudly, or ends with 5; without git it says so', async () => {
  await mkdir(join(folder, 'models'));
  await copyFile(model, join(folder, 'models/digits.onnx'));
  await mkdir(join(folder, '.mps'));
  await writeFile(join(folder, '.mps/ci.yaml'), gates('bytes <= base', 'bytes <= 1MB'));

  // A link where the report goes leads nowhere else.
  await writeFile(join(folder, 'precious'), 'mine');
  await symlink('precious', join(folder, 'mps-ci.md'));
  const passed = await ci();
  expect(await readFile(join(folder, 'precious'), 'utf8')).toBe('mine');
  expect(passed).toMatchObject({ code: 0, stderr: expect.stringContaining('NOT COMPARED') });
  expect(passed.stdout).toContain('PASSED  bytes <= 1MB');
  await writeFile(join(folder, '.mps/ci.yaml'), `${gates('bytes <= base')}without_base: fail\n`);
  expect((await ci()).code).toBe(5);
  await writeFile(
    join(folder, '.mps/ci.yaml'),
    `model: other.onnx\nrunn: {}\ngates: ["loss <= 1", "accuracy >= 95"]\n`,
  );
  const refused = await ci();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('runn: unknown. Did you mean run?');
  expect(refused.stderr).toContain('loss');
});

test('the report of a model that cannot be read has the reason alone', async () => {
  await repository(gates('bytes <= 1MB'));
  await writeFile(join(folder, 'models/digits.onnx'), 'no model');

  const { code } = await ci();

  expect(code).toBe(1);
  const { verdict, notes } = JSON.parse(await readFile(join(folder, 'mps-ci.json'), 'utf8'));
  expect(verdict).toBe('error');
  expect(notes).toEqual([expect.stringMatching(/model|protobuf/i)]);
});

test.runIf(everySample)('a merge request of GitLab has one note, too', async () => {
  const sha = await repository(gates('bytes <= base'));
  const gitlab = await loopbackGitlab();
  gitlab.sha = sha;
  const author = { id: 1, username: 'somebody' };
  for (let id = 1001; id <= 1101; id += 1) gitlab.notes.push({ id, body: 'hm', system: false, author });
  const environment = {
    ...{ GITLAB_CI: 'true', CI_API_V4_URL: gitlab.url, CI_COMMIT_SHA: sha, CI_MERGE_REQUEST_IID: '7' },
    ...{ CI_MERGE_REQUEST_PROJECT_ID: '77', CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '77' },
    ...{ CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main', CI_PIPELINE_ID: '5', GITLAB_TOKEN: 'glpat-secret' },
  };

  const checked = await ci({ ...environment, CI_JOB_ID: '1' });
  const again = await ci({ ...environment, CI_JOB_ID: '2' });
  const ofFork = { ...environment, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: '78' };
  const fork = await ci({ ...ofFork, CI_PROJECT_ID: '78' }, '--dry-run');
  const accepted = await ci({ ...ofFork, CI_PROJECT_ID: '77' }, '--dry-run');

  expect([checked.code, again.code]).toEqual([4, 4]);
  expect(gitlab.notes.filter(({ author: { id } }) => id === 8)).toHaveLength(1);
  expect(gitlab.notes.at(-1)?.body).toContain('run=5.2');
  expect(fork.stdout).toContain('runs in the fork');
  expect(accepted.stdout).toMatch(/on gitlab request 7$/m);
  expect(gitlab.faults).toEqual([]);
  expect([...gitlab.tokens]).toEqual(['glpat-secret']);
  expect(JSON.stringify([checked, again, fork, accepted])).not.toContain('glpat-secret');
});

test('a model is compressed, and the result is judged against it without a service or a branch', async () => {
  await mkdir(join(folder, 'models'));
  await copyFile(model, join(folder, 'models/digits.onnx'));
  await mkdir(join(folder, '.mps'));
  const compress = '{ strategy: auto, precision: 8, max_loss: 1%, measure: none }';
  await writeFile(
    join(folder, '.mps/ci.yaml'),
    `${gates('bytes <= 0.95x', 'error <= 1%', 'bytes <= 0.1x')}compress: ${compress}\n`,
  );
  await writeFile(join(folder, 'precious'), 'mine');
  await symlink('precious', join(folder, 'mps-ci.onnx'));

  // An absolute path is that of the file, and the report has it as it is in the folder.
  const checked = await ci({}, join(folder, '.mps/ci.yaml'));
  await writeFile(
    join(folder, '.mps/ci.yaml'),
    `${gates('bytes <= base')}compress: { strategy: static_minmax, for: avx9 }\n`,
  );
  const wrong = await ci();

  expect(checked.code, checked.stderr).toBe(4);
  expect(checked.stdout).toMatch(
    /PASSED {2}bytes <= 0.95x.*\nPASSED {2}error <= 1%.*\nFAILED {2}bytes <= 0.1x/,
  );
  expect(await readFile(join(folder, 'precious'), 'utf8')).toBe('mine');
  expect(JSON.parse(await readFile(join(folder, 'mps-ci.json'), 'utf8'))).toMatchObject({
    file: '.mps/ci.yaml',
  });
  const { size } = await stat(join(folder, 'mps-ci.onnx'));
  expect(size).toBeLessThan((await stat(model)).size);
  expect(await readFile(join(folder, 'mps-ci.receipt.svg'), 'utf8')).toContain('<svg');
  expect(await readFile(join(folder, 'mps-ci.md'), 'utf8')).toContain('auto, 8 bits');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('compress.for: Target processor') });
});
