import { execFileSync } from 'node:child_process';
import { lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { wheelsFolder } from '../../../../shared/runner/environment/host-wheels.ts';
import { indexVariables } from '../../../../shared/runner/environment/index-variables.ts';
import { prepareEnvironment } from '../../../../shared/runner/environment/prepare-environment.ts';
import { buildsFolder } from '../../../../shared/runner/environment/project-cache.ts';
import { trimCaches } from '../../../../shared/runner/environment/trim-caches.ts';
import { type PackageIndex, sha256Of, startPackageIndex } from '../../../support/package-index.ts';
import { everySample } from '../../../support/samples.ts';
import { testUser } from '../../../support/test-users.ts';
import { type EnvironmentFixture, makeFixture, options, removeFixture } from './environment-fixture.ts';
import { sourceOf, wheelOf } from './packages.ts';

const isRoot = process.getuid?.() === 0;
const owner = testUser('an environment of shared wheels');

describe('the packages of an environment', () => {
  let fixture: EnvironmentFixture;
  let index: PackageIndex;

  beforeEach(async () => {
    fixture = await makeFixture();
    const alpha = {
      'alpha/__init__.py': 'value = 1\n',
      'alpha-1.0.data/scripts/alpha-script': '#!python\nimport alpha\nprint("script", alpha.value)\n',
      'alpha-1.0.data/data/share/alpha.txt': 'shared\n',
      'alpha-1.0.dist-info/entry_points.txt': '[console_scripts]\nalpha-main = alpha.main:run [extra]\n',
      'alpha/main.py': 'def run():\n    print("program")\n    return 3\n',
    };
    index = await startPackageIndex({
      alpha: { 'alpha-1.0-py3-none-any.whl': await wheelOf('alpha', '1.0', alpha) },
      beta: { 'beta-1.0-py3-none-any.whl': await wheelOf('beta', '1.0', { 'beta.py': 'value = 2\n' }) },
      made: { 'made-1.0.tar.gz': await sourceOf('made', '1.0') },
    });
  });
  afterEach(() => removeFixture(fixture));

  const build = (projectId: string, ...packages: string[]) => buildWith({}, projectId, ...packages);

  const buildWith = (variables: Record<string, string>, projectId: string, ...packages: string[]) =>
    buildBy({ variables }, projectId, ...packages);

  interface Given {
    /** Variables of the project. */
    variables?: Record<string, string>;
    /** Variables of the operator. */
    operator?: Record<string, string>;
    /** What happens after the versions are decided. */
    decided?: () => Promise<void>;
  }

  async function buildBy(
    { variables = {}, operator, decided }: Given,
    projectId: string,
    ...packages: string[]
  ) {
    const plain = options(fixture, { env_type: 'python', dependencies: '' }, { ...(isRoot && { owner }) });
    const { PIP_NO_INDEX: _, ...plainEnv } = plain.operatorEnv;
    const operatorEnv = { ...plainEnv, ...operator };
    const dependencies = [`--index-url ${index.url}`, ...packages].join('\n');
    fixture.lines.length = 0;
    index.requests.length = 0;
    const { env } = await prepareEnvironment(
      options(
        fixture,
        { env_type: 'python', dependencies },
        {
          ...{ projectId, operatorEnv, packageIndexes: [new URL(index.url).origin] },
          async run(command) {
            const result = await plain.run(command);
            if (command.argv.includes('--generate-hashes')) await decided?.();
            return result;
          },
          indexes: indexVariables(variables),
          ...(isRoot && { owner }),
        },
      ),
    );
    const python = (code: string) => execFileSync('python', ['-c', code], { env, encoding: 'utf8' }).trim();
    const site = python('import sysconfig; print(sysconfig.get_path("purelib"))');
    return { env, python, site, log: [...fixture.lines], folder: env['VIRTUAL_ENV'] ?? '' };
  }

  test('that another project has are linked, and only the others are downloaded', async () => {
    const first = await build('p1', 'alpha');

    const second = await build('p2', 'alpha', 'beta');

    expect(second.log).toContainEqual('environment: 1 of 2 packages are installed on this host');
    expect(index.requests.filter((path) => path.startsWith('/files/'))).toEqual([
      '/files/beta/beta-1.0-py3-none-any.whl',
    ]);
    expect(second.python('import alpha, beta; print(alpha.value + beta.value)')).toBe('3');
    const [one, other] = await Promise.all(
      [first, second].map(({ site }) => lstat(join(site, 'alpha/__init__.py'))),
    );
    expect(one!.ino === other!.ino).toBe(isRoot);
  });

  test('are complete: programs, scripts, data and compiled modules', async () => {
    const { folder, site, python } = await build('p1', 'alpha');

    expect(python('import subprocess; print(subprocess.run("alpha-script").returncode)')).toBe('script 1\n0');
    expect(python('import subprocess; print(subprocess.run("alpha-main").returncode)')).toBe('program\n3');
    expect(execFileSync('cat', ['share/alpha.txt'], { cwd: folder, encoding: 'utf8' })).toBe('shared\n');
    expect((await readdir(join(site, 'alpha/__pycache__'))).length).toBe(2);
    expect(await fixture.store.lock()).toMatch(/^alpha==1\.0$/m);
  });

  test.runIf(everySample)(
    'may replace the setuptools of the virtual environment, also from those that are kept',
    async () => {
      const files = { 'setuptools/__init__.py': '__version__ = "99.1"\n' };
      index.files['setuptools'] = {
        'setuptools-99.1-py3-none-any.whl': await wheelOf('setuptools', '99.1', files),
      };
      await build('p1', 'alpha', 'setuptools>=99');

      const second = await build('p2', 'beta', 'setuptools>=99');

      expect(second.log).toContainEqual('environment: 1 of 2 packages are installed on this host');
      expect(second.python('import setuptools; print(setuptools.__version__)')).toBe('99.1');
      expect((await readdir(second.site)).filter((name) => /^setuptools-/.test(name))).toEqual([
        'setuptools-99.1.dist-info',
      ]);
    },
  );

  test.runIf(everySample)('do not keep a version that the index no longer has', async () => {
    await build('p1', 'alpha');
    const later = await wheelOf('alpha', '1.0', { 'alpha/__init__.py': 'value = 7\n' });
    index.files['alpha'] = { 'alpha-1.0-py3-none-any.whl': later };

    const second = await build('p2', 'alpha', 'beta');

    expect(second.python('import alpha; print(alpha.value)')).toBe('7');
  });

  test.runIf(everySample)(
    'have the versions of the first build when the only host has lost them',
    async () => {
      fixture.store.keepsPacks = false;
      const first = await build('p1', 'alpha');
      await rm(fixture.root, { recursive: true });
      const newer = await wheelOf('alpha', '2.0', { 'alpha/__init__.py': 'value = 8\n' });
      index.files['alpha'] = { ...index.files['alpha'], 'alpha-2.0-py3-none-any.whl': newer };

      const again = await build('p1', 'alpha');

      expect(again.python('import alpha; print(alpha.value)')).toBe('1');
      expect(again.folder).toBe(first.folder);
      index.files['alpha'] = { 'alpha-2.0-py3-none-any.whl': newer };
      await rm(fixture.root, { recursive: true });
      const without = await build('p1', 'alpha');
      expect(without.python('import alpha; print(alpha.value)')).toBe('8');
    },
  );

  const builtBy = 'import made; print(made.built_by)';

  test.runIf(everySample)(
    'are built once for a project, and beside them the wheels of the index are shared',
    async () => {
      const first = await build('p1', 'alpha', 'made');
      const second = await build('p1', 'alpha', 'beta', 'made');

      expect(second.python(builtBy)).toBe(first.python(builtBy));
      expect(second.log).toContainEqual('environment: 1 of 3 packages are installed on this host');
      const [one, other] = await Promise.all(
        [first, second].map(({ site }) => lstat(join(site, 'alpha/__init__.py'))),
      );
      expect(one!.ino === other!.ino).toBe(isRoot);
    },
  );

  test('are never those that another project has built, whatever its indexes', async () => {
    // The build of another project takes its tools from there.
    const own = { PIP_EXTRA_INDEX_URL: `${index.url}/` };
    const first = await buildWith(own, 'p1', 'made');

    const second = await build('p2', 'made');
    const third = await buildWith(own, 'p3', 'made');

    const builds = [first, second, third].map(({ python }) => python(builtBy));
    expect(new Set(builds).size).toBe(3);
    const folders = [wheelsFolder, buildsFolder].map((name) => lstat(join(fixture.root, name)));
    // No program of a job can look for them there.
    if (isRoot)
      expect((await Promise.all(folders)).map(({ uid, mode }) => [uid, mode & 0o777])).toEqual([
        [0, 0o700],
        [0, 0o700],
      ]);
  });

  test('found by a password come into no cache', async () => {
    const own = { PIP_EXTRA_INDEX_URL: index.url.replace('//', '//ann:passw0rd-of-ann@') };

    const { python } = await buildWith(own, 'p1', 'alpha', 'made');

    expect(python('import alpha, made; print(alpha.value)')).toBe('1');
    expect(await readdir(join(fixture.root, buildsFolder)).catch(() => [])).toEqual([]);
    const kept = await readdir(join(fixture.root, wheelsFolder), { recursive: true });
    expect(kept.filter((path) => /alpha|made/.test(path))).toEqual([]);
  });

  test('have the hashes that the project states, or are refused', async () => {
    const wheel = index.files['alpha']?.['alpha-1.0-py3-none-any.whl'] ?? Buffer.of();

    const { python } = await build('p1', `alpha==1.0 --hash=sha256:${sha256Of(wheel)}`);

    expect(python('import alpha; print(alpha.value)')).toBe('1');
    await expect(build('p2', `alpha==1.0 --hash=sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({
      code: 'install-failed',
      message: expect.stringMatching(/alpha/),
    });
  });

  test.runIf(everySample)(
    'come from the index that the project names, whatever the operator has',
    async () => {
      const operator = { UV_DEFAULT_INDEX: 'http://127.0.0.1:9/simple' };

      const { python } = await buildBy({ operator }, 'p1', 'alpha');

      expect(python('import alpha; print(alpha.value)')).toBe('1');
    },
  );

  test.runIf(everySample)(
    'are installed again when the host has removed what was unused for longest',
    async () => {
      await build('p1', 'alpha');
      await trimCaches(fixture.root, 0, { now: Date.now() + 60 * 60 * 1000 });
      expect(await readdir(join(fixture.root, wheelsFolder, 'archive-v0'))).toEqual([]);

      const { python } = await build('p2', 'alpha');

      expect(python('import alpha; print(alpha.value)')).toBe('1');
    },
  );

  test.runIf(isRoot)('are no files that only the service may read', async () => {
    const [name, wheel] = ['gamma-1.0-py3-none-any.whl', await wheelOf('gamma', '1.0', { 'gamma.py': '' })];
    const [own, hidden] = [join(fixture.folder, 'own'), join(fixture.folder, 'hidden')];
    const file = join(own, 'gamma', name);
    await mkdir(join(own, 'gamma'), { recursive: true });
    await mkdir(hidden, { mode: 0o700 });
    await writeFile(join(hidden, 'gamma'), wheel);
    await writeFile(join(own, 'gamma/index.html'), `<a href="${name}#sha256=${sha256Of(wheel)}">${name}</a>`);
    await writeFile(file, wheel);
    const variables = { UV_EXTRA_INDEX_URL: own };
    const decided = async () => {
      await rm(file);
      await symlink(join(hidden, 'gamma'), file);
    };

    await expect(buildBy({ variables, decided }, 'p1', 'gamma')).rejects.toMatchObject({
      message: expect.stringContaining('Permission denied'),
    });
  });

  test.runIf(everySample)('are decided on in a file that a build has not put there', async () => {
    const first =
      'import os; os.path.exists(f"{os.environ[\'HOME\']}/resolved.txt") or os.symlink("/nowhere", f"{os.environ[\'HOME\']}/resolved.txt")';
    await writeFile(join(fixture.source, 'evil-1.0.tar.gz'), await sourceOf('evil', '1.0', '', first));

    const { python } = await build('p1', 'alpha', './evil-1.0.tar.gz');

    expect(python('import alpha, evil; print(alpha.value)')).toBe('1');
  });

  test('fail at once with a version that this Python cannot have, before another package is built', async () => {
    const wheel = await wheelOf('old', '1.0', {});
    // Longer than this test may take.
    index.files['made'] = {
      'made-1.0.tar.gz': await sourceOf('made', '1.0', '', 'import time; time.sleep(1000)'),
    };
    index.files['old'] = { 'old-1.0-cp27-cp27mu-any.whl': wheel, 'old-2.0-py3-none-any.whl': wheel };

    await expect(build('p1', 'made', 'old==1.0')).rejects.toMatchObject({
      code: 'install-failed',
      message: expect.stringMatching(
        /^old==1\.0 \(dependencies: line 3\): the package index has no such version/,
      ),
    });
  });

  test('fail with what the build lacks, the line that requires it, and what to do', async () => {
    const warnings =
      'import sys; print("m.c:1: warning: unused\\n" * 1000, file=sys.stderr); import not_there';
    index.files['bad'] = { 'bad-1.0.tar.gz': await sourceOf('bad', '1.0', warnings) };

    await expect(build('p1', 'alpha', 'bad')).rejects.toMatchObject({
      code: 'install-failed',
      message: expect.stringMatching(
        /^bad \(dependencies: line 3\) has no wheel .* lacks the module not_there, .* put a wheel into the source/,
      ),
    });
  });

  test.runIf(everySample)('come from an index that breaks off a download', async () => {
    index.cuts = 2;

    const { python } = await build('p1', 'alpha', 'beta');

    expect(python('import alpha, beta; print(alpha.value + beta.value)')).toBe('3');
    expect(index.cuts).toBe(0);
  });

  test.runIf(everySample)(
    'are not kept in halves when the index goes away, and come when it is back',
    async () => {
      index.cuts = Number.POSITIVE_INFINITY;

      await expect(build('p1', 'alpha', 'beta')).rejects.toMatchObject({
        code: 'install-failed',
        message: expect.stringMatching(
          /^A package index failed during the installation \(.+\)\. Nothing of it was kept/,
        ),
      });
      index.cuts = 0;
      const later = await build('p1', 'alpha', 'beta');

      expect(later.python('import alpha, beta; print(alpha.value + beta.value)')).toBe('3');
    },
  );
});
