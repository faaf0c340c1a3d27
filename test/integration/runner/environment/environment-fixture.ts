import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EnvironmentSpec } from '../../../../shared/runner/environment/dependencies/parse-dependencies.ts';
import { superviseInstaller } from '../../../../shared/runner/environment/install/supervised-installer.ts';
import type { PrepareOptions } from '../../../../shared/runner/environment/prepare-environment.ts';
import { removeTree } from '../../../../shared/runner/environment/remove-tree.ts';
import type {
  EnvironmentPack,
  EnvironmentStore,
} from '../../../../shared/runner/environment/stored-environments.ts';

/** Folders for one test: a source, a root of environments, a store and a place for programs of its own. */
export interface EnvironmentFixture {
  folder: string;
  source: string;
  root: string;
  programs: string;
  store: FolderStore;
  lines: string[];
}

export async function makeFixture(folder?: string): Promise<EnvironmentFixture> {
  const base = folder ?? (await mkdtemp(join(tmpdir(), 'environment-')));
  await chmod(base, 0o755);
  const [source, root, programs, kept] = ['source', 'root', 'programs', 'store'].map((name) =>
    join(base, name),
  );
  for (const path of [source!, programs!, kept!]) await mkdir(path, { recursive: true });
  return {
    folder: base,
    source: source!,
    root: root!,
    programs: programs!,
    store: new FolderStore(kept!),
    lines: [],
  };
}

export async function removeFixture(fixture: EnvironmentFixture): Promise<void> {
  await removeTree(fixture.folder);
}

/** Options with no registry in reach, the fixture's own programs first on the search path. */
export function options(
  fixture: EnvironmentFixture,
  spec: EnvironmentSpec,
  more: Partial<PrepareOptions> = {},
): PrepareOptions {
  const stop = more.stop ?? new AbortController().signal;
  const installer = { marker: { name: 'ENVIRONMENT_TEST', value: randomUUID() }, stop };
  return {
    spec,
    projectId: 'p1',
    packageIndexes: ['pypi.org'],
    sourceFolder: fixture.source,
    root: fixture.root,
    store: fixture.store,
    run: superviseInstaller({ ...installer, ...(more.owner === undefined ? {} : { user: more.owner }) }),
    runEngine: superviseInstaller(installer),
    operatorEnv: {
      PATH: `${fixture.programs}:${process.env['PATH']}`,
      PIP_NO_INDEX: '1',
      npm_config_offline: 'true',
    },
    log: (line) => fixture.lines.push(line),
    stop,
    ...more,
  };
}

export async function program(fixture: EnvironmentFixture, name: string, script: string): Promise<void> {
  await writeFile(join(fixture.programs, name), script, { mode: 0o755 });
}

/** An npm that installs one file and counts its runs, without the second that the real one takes. */
export function fakeNpm(fixture: EnvironmentFixture, body = ''): Promise<void> {
  const script = [
    '#!/bin/sh',
    '[ "$1" = --version ] && exit 0',
    `echo run >> ${fixture.folder}/installs`,
    'mkdir -p node_modules/pkg && echo "exports.x = 1" > node_modules/pkg/index.js',
    'echo \'{"packages":{"node_modules/pkg":{"version":"1.0.0","integrity":"sha512-x"}}}\' > node_modules/.package-lock.json',
    body,
  ];
  return program(fixture, 'npm', script.join('\n'));
}

export async function installs(fixture: EnvironmentFixture): Promise<number> {
  const text = await readFile(join(fixture.folder, 'installs'), 'utf8').catch(() => '');
  return text.split('\n').length - 1;
}

/** A store in a folder, which several processes can share. Leases never expire, so that a forgotten one shows. */
class FolderStore implements EnvironmentStore {
  readonly folder: string;
  keepsPacks = true;

  constructor(folder: string) {
    this.folder = folder;
  }

  async find(key: string) {
    const text = await readFile(join(this.folder, `${key}.json`), 'utf8').catch(() => null);
    if (text === null) return null;
    const lock = await readFile(join(this.folder, `${key}.lock`), 'utf8');
    const facts = JSON.parse(text) as { lockHash: string; buildSeconds: number };
    return { ...facts, lock, hasPack: existsSync(join(this.folder, `${key}.pack`)) };
  }

  async claimBuild(key: string) {
    const holder = randomUUID();
    return writeFile(join(this.folder, `${key}.claim`), holder, { flag: 'wx' }).then(
      () => ({ claimed: true as const, holder }),
      () => ({ claimed: false as const }),
    );
  }

  async download(key: string, file: string) {
    await cp(join(this.folder, `${key}.pack`), file);
  }

  async save(key: string, pack: EnvironmentPack) {
    if (pack.file !== undefined) await cp(pack.file, join(this.folder, `${key}.pack`));
    await writeFile(join(this.folder, `${key}.lock`), pack.lock);
    const record = JSON.stringify({ lockHash: pack.lockHash, buildSeconds: pack.buildSeconds });
    await writeFile(join(this.folder, `${key}.json`), record);
  }

  async releaseBuild(key: string, holder: string) {
    const claim = join(this.folder, `${key}.claim`);
    if ((await readFile(claim, 'utf8').catch(() => '')) === holder) await rm(claim);
  }

  async claims(): Promise<string[]> {
    return (await readdir(this.folder)).filter((name) => name.endsWith('.claim'));
  }

  async lock(): Promise<string> {
    const [name] = (await readdir(this.folder)).filter((file) => file.endsWith('.lock'));
    return readFile(join(this.folder, name!), 'utf8');
  }
}
