import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
import { everySample } from '../../../support/samples.ts';
import { testUser } from '../../../support/test-users.ts';
import {
  type EnvironmentFixture,
  fakeNpm,
  installs,
  makeFixture,
  options,
  program,
  removeFixture,
} from './environment-fixture.ts';
import { writeNpmPackage } from './packages.ts';

let fixture: EnvironmentFixture;
beforeEach(async () => {
  fixture = await makeFixture();
});
afterEach(() => removeFixture(fixture));

const node = (dependencies = 'pkg') => ({ env_type: 'node', dependencies }) as const;
const child = fileURLToPath(import.meta.resolve('./prepare-child.ts'));
const leftovers = async () =>
  (await readdir(join(fixture.root, 'p1'))).filter((name) => /scratch|building|draft/.test(name));

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(20);
}

const exists = (name: string) =>
  access(join(fixture.folder, name)).then(
    () => true,
    () => false,
  );
const isWaiting = () => fixture.lines.includes('environment: another run is building it; waiting');

test('npm installs a local package with its script, found by require and as a program', async () => {
  await writeNpmPackage(join(fixture.source, 'vendor/tiny-1.2.3.tgz'));
  await writeFile(join(fixture.source, '.npmrc'), 'ignore-scripts=true\nregistry=http://127.0.0.1:1\n');
  const built = await prepareEnvironment(options(fixture, node('./vendor/tiny-1.2.3.tgz')));
  expect(built).toMatchObject({ cache: 'miss', nodeModules: built.env['NODE_PATH'] });
  const answer = execFileSync('node', ['-p', 'require("tiny").answer'], { env: built.env, encoding: 'utf8' });
  expect(answer.trim()).toBe('42');
  expect(
    execFileSync(join(built.nodeModules!, '.bin/tiny'), { env: built.env, encoding: 'utf8' }).trim(),
  ).toBe('42');
  expect(await readFile(join(built.nodeModules!, 'tiny/installed'), 'utf8')).toBe('yes');
  expect(await fixture.store.lock()).toMatch(/^tiny 1\.2\.3 sha512-/);
});

test("npm's own reason is given, and a missing npm is named", async () => {
  await expect(prepareEnvironment(options(fixture, node('no-such-package')))).rejects.toMatchObject({
    code: 'install-failed',
    message: expect.stringContaining('no-such-package'),
  });
  await program(fixture, 'npm', '#!/bin/sh\nexit 127\n');
  await expect(prepareEnvironment(options(fixture, node()))).rejects.toMatchObject({ code: 'npm-missing' });
});

test('system environments and blank dependencies install nothing and touch nothing', async () => {
  const none = { cache: 'none', lockHash: null, requestKey: null };
  const system = await prepareEnvironment(options(fixture, { env_type: 'system', dependencies: '-' }));
  expect(system).toMatchObject({ ...none, env: {} });
  const bare = await prepareEnvironment(options(fixture, node('none')));
  expect(bare).toMatchObject(none);
  // Programs of packages that the source brings are found.
  expect(bare.env['PATH']?.split(':')[0]).toBe(join(fixture.source, 'node_modules', '.bin'));
  await expect(readdir(fixture.root)).rejects.toThrow('ENOENT');
});

describe('at the same moment', () => {
  test('two preparations in one process and two in others build once', async () => {
    await fakeNpm(fixture, 'sleep 0.5');
    const run = promisify(execFile);
    const others = [1, 2].map(() => run(process.execPath, [child, fixture.folder]));
    const own = [1, 2].map(() => prepareEnvironment(options(fixture, node())));
    const caches = [
      ...(await Promise.all(own)).map((prepared) => prepared.cache),
      ...(await Promise.all(others)).map(({ stdout }) => stdout.trim()),
    ];
    expect(caches.sort()).toEqual(['hit', 'hit', 'hit', 'miss']);
    expect(await installs(fixture)).toBe(1);
    expect(await fixture.store.claims()).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  test('a build on another host is waited for, and its pack used', async () => {
    await fakeNpm(fixture);
    const first = await prepareEnvironment(options(fixture, node()));
    const record = join(fixture.store.folder, `${first.requestKey}.json`);
    const text = await readFile(record, 'utf8');
    await rm(record);
    await rm(fixture.root, { recursive: true });
    await fixture.store.claimBuild(first.requestKey!);
    const waiting = prepareEnvironment(options(fixture, node()));
    await until(isWaiting);
    await writeFile(record, text);
    expect(await waiting).toMatchObject({ cache: 'hit', lockHash: first.lockHash });
    expect(await installs(fixture)).toBe(1);
  });

  test('waiting ends when the run is stopped', async () => {
    await fakeNpm(fixture);
    const first = await prepareEnvironment(options(fixture, node()));
    await rm(fixture.store.folder, { recursive: true });
    await rm(fixture.root, { recursive: true });
    fixture.store.claimBuild = async () => ({ claimed: false });
    const stopping = new AbortController();
    const waiting = prepareEnvironment(options(fixture, node(), { stop: stopping.signal }));
    await until(isWaiting);
    stopping.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'stopped' });
    expect(first.cache).toBe('miss');
  });
});

describe('after something ended badly', () => {
  test.runIf(everySample)(
    'an environment that was built and not stored is stored by the next run, with the claim of the dead',
    async () => {
      await fakeNpm(fixture);
      const first = await prepareEnvironment(options(fixture, node()));
      const { requestKey = '' } = first;
      for (const ending of ['json', 'pack', 'lock'])
        await rm(join(fixture.store.folder, `${requestKey}.${ending}`));
      const claim = await fixture.store.claimBuild(requestKey!);
      const noted = join(fixture.root, 'p1', `${requestKey}.building`);
      await writeFile(noted, claim.claimed ? claim.holder : '');
      expect(await prepareEnvironment(options(fixture, node()))).toMatchObject({
        cache: 'hit',
        stored: true,
      });
      expect(await fixture.store.find(requestKey!)).toMatchObject({ lockHash: first.lockHash });
      expect(await installs(fixture)).toBe(1);
      expect(await fixture.store.claims()).toEqual([]);
      expect(await leftovers()).toEqual([]);
      fixture.store.find = () => Promise.reject(new Error('away'));
      expect(await prepareEnvironment(options(fixture, node()))).toMatchObject({
        cache: 'hit',
        stored: false,
      });
    },
  );

  test('kill -9 in the middle of a build: the next run builds it anew, without waiting for the lease', async () => {
    await fakeNpm(
      fixture,
      `echo $$ > ${fixture.folder}/pid; mv ${fixture.folder}/pid ${fixture.folder}/started; exec sleep 60`,
    );
    const killed = spawn(process.execPath, [child, fixture.folder], { stdio: 'inherit' });
    await until(() => exists('started'));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    process.kill(Number(await readFile(join(fixture.folder, 'started'), 'utf8')), 'SIGKILL');
    expect(await fixture.store.claims()).toHaveLength(1);
    expect(await leftovers()).toHaveLength(2);

    await fakeNpm(fixture);
    const prepared = await prepareEnvironment(options(fixture, node()));
    expect(prepared.cache).toBe('miss');
    expect(await readFile(join(prepared.nodeModules!, 'pkg/index.js'), 'utf8')).toContain('exports');
    expect(await fixture.store.claims()).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  test('a stopped build ends its processes and leaves neither folder nor claim', async () => {
    await fakeNpm(fixture, `touch ${fixture.folder}/started; sleep 60`);
    const stopping = new AbortController();
    const building = prepareEnvironment(options(fixture, node(), { stop: stopping.signal }));
    await until(() => exists('started'));
    stopping.abort();
    await expect(building).rejects.toMatchObject({ code: 'stopped' });
    expect(await fixture.store.claims()).toEqual([]);
    expect((await readdir(join(fixture.root, 'p1'))).filter((name) => !name.includes('.lock.'))).toEqual([]);
  });

  test.runIf(everySample)('a damaged pack is built anew and replaced', async () => {
    await fakeNpm(fixture);
    const first = await prepareEnvironment(options(fixture, node()));
    const pack = join(fixture.store.folder, `${first.requestKey}.pack`);
    const good = await readFile(pack);
    await rm(fixture.root, { recursive: true });
    await writeFile(pack, good.subarray(0, good.length / 2));
    expect(await prepareEnvironment(options(fixture, node()))).toMatchObject({
      cache: 'miss',
      lockHash: first.lockHash,
    });
    expect(fixture.lines.join('\n')).toContain('The packed environment cannot be used');
    await rm(fixture.root, { recursive: true });
    expect(await prepareEnvironment(options(fixture, node()))).toMatchObject({ cache: 'hit' });
  });

  test.runIf(everySample)('a pack that cannot be stored is reported, and the run goes on', async () => {
    await fakeNpm(fixture);
    fixture.store.save = () => Promise.reject(new Error('no space'));
    expect(await prepareEnvironment(options(fixture, node()))).toMatchObject({
      cache: 'miss',
      stored: false,
    });
    expect(fixture.lines.at(-1)).toBe('environment: could not be stored for later runs: no space');
  });
});

test('an environment with a link to outside or a pipe is not kept', async () => {
  const blocked = 'mkdir -p node_modules/a/b; ln -s /etc node_modules/a/b/etc; chmod 0 node_modules/a';
  for (const evil of ['ln -s /etc node_modules/etc', 'mkfifo node_modules/pipe', blocked]) {
    await fakeNpm(fixture, evil);
    await expect(prepareEnvironment(options(fixture, node()))).rejects.toMatchObject({
      code: 'pack-refused',
    });
  }
  expect(await readdir(fixture.store.folder)).toEqual([]);
  expect((await readdir(join(fixture.root, 'p1'))).filter((name) => !name.includes('.lock.'))).toEqual([]);
});

test.runIf(everySample)(
  'the least recently used environment goes when there are too many bytes, one in use stays',
  async () => {
    await fakeNpm(fixture);
    const run = promisify(execFile);
    await run(process.execPath, [child, fixture.folder]);
    const other = await prepareEnvironment(options(fixture, node('other')));
    const there = async () =>
      (await readdir(join(fixture.root, 'p1'))).filter((name) => name.endsWith('.complete'));
    expect(await there()).toHaveLength(2);
    await prepareEnvironment(options(fixture, node('third'), { maxBytes: 1 }));
    expect(await there()).toHaveLength(2);
    expect(await there()).toContain(`${other.requestKey}.complete`);
    expect(fixture.lines.at(-1)).toBe('environment: 1 unused on this host removed to free space');
  },
);

test.runIf(process.getuid?.() === 0)(
  'as root it is built by the owner, who cannot change it afterwards',
  async () => {
    await program(
      fixture,
      'node',
      `#!/bin/sh\nprintf '{"implementation":"node","version":"1","executable":"/x"}\\n'\n`,
    );
    await fakeNpm(fixture, 'id -u > node_modules/uid; chmod 0700 node_modules; chmod 4777 node_modules/uid');
    await writeFile(join(fixture.folder, 'installs'), '', { mode: 0o666 });
    execFileSync('chmod', ['0666', join(fixture.folder, 'installs')]);
    const owner = testUser('an environment of npm');
    const prepared = await prepareEnvironment(options(fixture, node(), { owner }));
    const file = join(prepared.nodeModules!, 'uid');
    expect((await readFile(file, 'utf8')).trim()).toBe(String(owner.uid));
    const facts = await stat(file);
    expect([facts.uid, facts.mode & 0o7777]).toEqual([0, 0o555]);
    const modules = await stat(prepared.nodeModules!);
    expect([modules.uid, modules.mode & 0o7777]).toEqual([0, 0o755]);
  },
);
