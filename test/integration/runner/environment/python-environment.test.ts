import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
import { everySample } from '../../../support/samples.ts';
import {
  type EnvironmentFixture,
  makeFixture,
  options,
  program,
  removeFixture,
} from './environment-fixture.ts';
import { writeWheel } from './packages.ts';

let fixture: EnvironmentFixture;
beforeEach(async () => {
  fixture = await makeFixture();
});
afterEach(() => removeFixture(fixture));

const importTiny = (env: Record<string, string>) =>
  execFileSync('python', ['-c', 'import tiny; print(tiny.version)'], { env, encoding: 'utf8' }).trim();
const python = (dependencies: string) => ({ env_type: 'python', dependencies }) as const;

test('builds once, then finds it on the host, then unpacks it from the store', async () => {
  await writeWheel(join(fixture.source, 'wheels/tiny-1.0-py3-none-any.whl'), '1.0');
  await mkdir(join(fixture.source, 'requirements'));
  await writeFile(join(fixture.source, 'requirements/base.txt'), './wheels/tiny-1.0-py3-none-any.whl\n');
  // Would redirect or break an installer that looked into the source.
  await writeFile(join(fixture.source, 'pyproject.toml'), '[tool.uv]\nrequired-version = "<0.0.1"\n');
  await writeFile(join(fixture.source, 'pip.py'), 'raise SystemExit(3)\n');
  const spec = python('-r requirements/base.txt');

  const built = await prepareEnvironment(options(fixture, spec));
  expect(built).toMatchObject({ cache: 'miss', savedSeconds: 0, stored: true, nodeModules: null });
  expect(importTiny(built.env)).toBe('1.0');
  expect(await fixture.store.lock()).toMatch(
    /^tiny @ file:wheels\/tiny-1\.0-py3-none-any\.whl#sha256=[0-9a-f]{64}$/m,
  );
  expect(fixture.lines).toEqual([
    expect.stringMatching(/^environment: built with uv in [\d.]+ s$/),
    expect.stringMatching(/^environment: packed [\d.]+ MB in [\d.]+ s and stored$/),
  ]);

  const second = await prepareEnvironment(options(fixture, spec));
  expect(second).toMatchObject({ cache: 'hit', lockHash: built.lockHash, env: built.env });
  expect(second.savedSeconds).toBeGreaterThan(0);
  expect(fixture.lines.at(-1)).toMatch(/^environment: cache hit, [\d.]+ s of installation saved$/);

  await rm(fixture.root, { recursive: true });
  const third = await prepareEnvironment(options(fixture, spec, { run: refuseInstallers(fixture, spec) }));
  expect(third).toMatchObject({ cache: 'hit', lockHash: built.lockHash, requestKey: built.requestKey });
  expect(importTiny(third.env)).toBe('1.0');

  await writeWheel(join(fixture.source, 'wheels/tiny-1.0-py3-none-any.whl'), '1.0');
  await writeFile(join(fixture.source, 'requirements/base.txt'), '# nothing\n');
  const changed = await prepareEnvironment(options(fixture, spec));
  expect(changed.requestKey).not.toBe(built.requestKey);
});

/** Lets the interpreter be asked what it is, and nothing be installed. */
function refuseInstallers(on: EnvironmentFixture, spec: ReturnType<typeof python>) {
  const { run } = options(on, spec);
  return (command: Parameters<typeof run>[0]) =>
    command.argv[0] === 'python3' ? run(command) : Promise.reject(new Error(`ran ${command.argv.join(' ')}`));
}

test.runIf(everySample)(
  "what cannot be resolved fails with the resolver's own words and leaves nothing",
  async () => {
    const spec = python('no-such-package-anywhere==9.9');
    await expect(prepareEnvironment(options(fixture, spec))).rejects.toMatchObject({
      name: 'EnvironmentError',
      code: 'install-failed',
      message: expect.stringContaining('no-such-package-anywhere'),
    });
    expect(await fixture.store.claims()).toEqual([]);
  },
);

test.runIf(everySample)(
  'a host without uv that cannot get it, and one without Python, are named',
  async () => {
    await program(fixture, 'uv', '#!/bin/sh\nexit 1\n');
    await expect(prepareEnvironment(options(fixture, python('tiny')))).rejects.toMatchObject({
      code: 'install-failed',
      message: expect.stringMatching(
        /^uv \S+, which installs Python packages, could not be fetched .* or install uv\.$/s,
      ),
    });
    const own = join(fixture.programs, 'python3');
    const facts = JSON.stringify({ implementation: 'cpython', version: '3.11.2', executable: own });
    const asked = `case "$*" in "-I -c "*) echo '${facts}';; *) echo "$0: No module named pip"; exit 1;; esac`;
    await program(fixture, 'python3', `#!/bin/sh\n${asked}\n`);
    await expect(prepareEnvironment(options(fixture, python('tiny')))).rejects.toMatchObject({
      code: 'venv-missing',
      message: expect.stringContaining('python3-venv'),
    });
    const operatorEnv = { PATH: join(fixture.folder, 'empty') };
    await expect(prepareEnvironment(options(fixture, python('tiny'), { operatorEnv }))).rejects.toMatchObject(
      {
        code: 'python-missing',
      },
    );
  },
);

test('files outside the source, links and bad lines in a -r file are refused before anything runs', async () => {
  const refused = (dependencies: string) =>
    expect(prepareEnvironment(options(fixture, python(dependencies)))).rejects;
  await writeFile(join(fixture.folder, 'secret.txt'), 'secret\n');
  await symlink(join(fixture.folder, 'secret.txt'), join(fixture.source, 'link.txt'));
  await symlink(fixture.folder, join(fixture.source, 'up'));
  await writeFile(join(fixture.source, 'bad.txt'), 'numpy\n--index-url https://evil.example\n');
  await writeFile(join(fixture.source, 'bytes.txt'), Buffer.from([0xff, 0xfe]));
  await mkdir(join(fixture.source, 'folder.txt'));
  await refused('-r link.txt').toMatchObject({ code: 'bad-dependencies', message: 'link.txt: is a link' });
  await refused('-r up/secret.txt').toMatchObject({ message: 'up/secret.txt: is behind a link' });
  await refused('-r bad.txt').toMatchObject({
    message: expect.stringMatching(
      /^bad\.txt: line 2: evil\.example is not an allowed package index.*pypi\.org/,
    ),
  });
  await refused('-r missing.txt').toMatchObject({ message: 'missing.txt: is not in the source' });
  await refused('-r bytes.txt').toMatchObject({ message: 'bytes.txt: is not UTF-8 text' });
  await refused('-r folder.txt').toMatchObject({ message: 'folder.txt: is not a regular file' });
  for (let depth = 0; depth < 10; depth += 1) {
    await writeFile(join(fixture.source, `${depth}.txt`), `-r ${depth + 1}.txt\n`);
  }
  await refused('-r 0.txt').toMatchObject({ message: expect.stringContaining('nested deeper') });
});

test('-r files that name each other end', async () => {
  await writeFile(join(fixture.source, 'a.txt'), '-r b.txt\n');
  await writeFile(join(fixture.source, 'b.txt'), '-r a.txt\n');
  expect(await prepareEnvironment(options(fixture, python('-r a.txt')))).toMatchObject({ cache: 'miss' });
});

test.each(['', 'none'])(
  'with nothing to install (%j) there still is a python of its own',
  async (nothing) => {
    const made = await prepareEnvironment(options(fixture, python(nothing)));
    expect(made).toMatchObject({ cache: 'miss', stored: true });
    const prefix = ['-c', 'import sys; print(sys.prefix)'];
    const folder = execFileSync('python', prefix, { env: made.env, encoding: 'utf8' }).trim();
    expect(folder).toBe(made.env['VIRTUAL_ENV']);
    expect(await fixture.store.lock()).toBe('');
    expect(await prepareEnvironment(options(fixture, python(nothing)))).toMatchObject({ cache: 'hit' });
  },
);
