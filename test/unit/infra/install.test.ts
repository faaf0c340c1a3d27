import { spawnSync } from 'node:child_process';
import { copyFile, glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { everySample } from '../../support/samples.ts';

const root = join(import.meta.dirname, '../../..');

describe('the installation before an npm script', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mps-install-'));
    await mkdir(join(folder, 'infra'));
    await copyFile(join(root, 'infra/install.mjs'), join(folder, 'infra/install.mjs'));
    await writeFile(join(folder, 'package.json'), '{}');
    await writeFile(join(folder, 'npm.js'), npm);
    await lock('1.0.0');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const lock = (version: string, linter = version) =>
    writeFile(
      join(folder, 'package-lock.json'),
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/server': { version },
          'node_modules/linter': { version: linter, dev: true },
          'node_modules/server-win32': { version, optional: true },
        },
      }),
    );

  /** Run the installation. Return what npm was asked for. */
  async function installed(args: readonly string[], mode = 'whole') {
    spawnSync(process.execPath, ['infra/install.mjs', ...args], {
      cwd: folder,
      env: { npm_execpath: join(folder, 'npm.js'), MODE: mode },
    });
    const asked = await readFile(join(folder, 'asked'), 'utf8').catch(() => '');
    await rm(join(folder, 'asked'), { force: true });
    return asked.split('\n').filter((line) => line !== '');
  }

  test('brings what runs the service, and the rest with the first command that needs it', async () => {
    expect(await installed(['--to-run'])).toEqual(['ci --omit=dev']);
    expect(await installed(['--to-run'])).toEqual([]);
    expect(await installed([])).toEqual(['install --include=dev']);
    expect(await installed([])).toEqual([]);
    expect(await installed(['--to-run'])).toEqual([]);
  });

  test('begins again where it was cut short', async () => {
    expect(await installed(['--to-run'], 'killed')).toEqual(['ci --omit=dev']);
    expect(await installed(['--to-run'])).toEqual(['ci --omit=dev']);
    expect(await installed([], 'killed')).toEqual(['install --include=dev']);
    expect(await installed([])).toEqual(['ci --include=dev']);
    expect(await installed([])).toEqual([]);
  });

  test('takes an installation of npm itself, and renews it with the lock file', async () => {
    spawnSync(process.execPath, ['npm.js', 'ci', '--include=dev'], { cwd: folder });
    await rm(join(folder, 'asked'));

    expect(await installed([])).toEqual([]);
    await lock('1.0.1');
    expect(await installed([])).toEqual(['ci --include=dev']);
  });

  test('leaves what runs the service where only its development changes, or cannot be installed', async () => {
    await installed(['--to-run']);
    expect(await installed([], 'offline')).toEqual(['install --include=dev']);
    expect(await installed(['--to-run'])).toEqual([]);
    await installed([]);
    await lock('1.0.0', '1.0.1');
    expect(await installed(['--to-run'])).toEqual([]);
    expect(await installed([])).toEqual(['install --include=dev']);
  });

  test('keeps what tests the service where a command that only runs it renews the rest', async () => {
    await installed([]);
    await lock('1.0.1');

    expect(await installed(['--to-run'])).toEqual(['ci --include=dev']);
  });

  test.each(['', '0', 'own'])('waits for no mark that nobody has: %o', async (mark) => {
    await mkdir(join(folder, '.build'));
    await writeFile(join(folder, '.build/installing'), mark);
    // The mark of the process itself is written by the shell that becomes it.
    if (mark === 'own') {
      const script = 'echo $$ > .build/installing; exec "$0" infra/install.mjs --to-run';
      const env = { npm_execpath: join(folder, 'npm.js'), MODE: 'whole' };
      expect(spawnSync('sh', ['-c', script, process.execPath], { cwd: folder, env }).status).not.toBeNull();
    }
    expect((await installed(['--to-run'])).filter((line) => line === 'ci --omit=dev')).toHaveLength(1);
  });

  test('keeps the libraries of this platform and of a deployment', async () => {
    await installed(['--to-run']);

    const kept = await readdir(join(folder, 'node_modules/onnxruntime-node/bin/napi-v6'), {
      recursive: true,
    });
    const own = `${process.platform}/${process.arch}`;
    expect(kept.filter((path) => path.endsWith('.so')).toSorted()).toEqual(
      [...new Set([`${own}/library.so`, 'linux/x64/library.so'])].toSorted(),
    );
  });
});

/** Installs nothing, and writes what npm writes. */
const npm = `
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const [, , command, ...rest] = process.argv;
const scope = rest.find((word) => /dev$/.test(word));
appendFileSync('asked', command + ' ' + scope + '\\n');
for (const name of ['linux/x64', 'win32/x64', process.platform + '/' + process.arch]) {
  const folder = 'node_modules/onnxruntime-node/bin/napi-v6/' + name;
  mkdirSync(folder, { recursive: true });
  writeFileSync(folder + '/library.so', '');
}
mkdirSync('node_modules/.bin', { recursive: true });
if (process.env.MODE === 'killed') {
  process.kill(process.ppid, 'SIGKILL');
  process.exit();
}
if (process.env.MODE === 'offline') process.exit(1);
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const kept = Object.entries(packages).filter(
  ([, { dev, optional }]) => !optional && !(dev && scope === '--omit=dev'),
);
for (const [path, { version }] of kept) {
  if (path === '') continue;
  mkdirSync(path, { recursive: true });
  writeFileSync(path + '/package.json', JSON.stringify({ version }));
}
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(kept) }));
`;

/** Programs of the commands that install only what runs the service. */
const programs = [
  'infra/local/start/{bundle,main}.ts',
  'infra/tools/{demo,import}/main.ts',
  'infra/service/write-openapi.ts',
  'shared/onnx/cli/{bundle-command,command}.ts',
  'functions/**/*.{endpoint,event,job}.ts',
  'functions/console/app/main.tsx',
  'cli/{build,main}.ts',
];

test.runIf(everySample)(
  'commands that install what runs the service use no package of its development',
  async () => {
    const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: await Array.fromAsync(glob(programs, { cwd: root })),
      outdir: '.build',
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      loader: { '.css': 'empty' },
    });

    const used = Object.values(metafile.inputs).flatMap(({ imports }) =>
      imports.filter(({ external }) => external).map(({ path }) => path),
    );

    expect(used).toContain('esbuild');
    const unwanted = used.filter((path) =>
      Object.keys(devDependencies).some((name) => path === name || path.startsWith(`${name}/`)),
    );
    expect(unwanted).toEqual([]);
  },
);
