import { execFile } from 'node:child_process';
import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readProjectFile } from '../../../cli/projects/project-file.ts';
import { chooseEnvironment } from '../../../cli/run/environment/choose-environment.ts';
import { gitState } from '../../../cli/run/source/git-state.ts';
import { inspectFiles, leftOutText } from '../../../cli/run/source/inspect-files.ts';
import { nameLeftOut } from '../../../cli/run/source/left-out.ts';
import { listFiles } from '../../../cli/run/source/list-files.ts';
import { packFiles } from '../../../cli/run/source/pack-files.ts';
import { requireProgram } from '../../../cli/run/source/require-program.ts';
import {
  pathsBelow,
  requireOwnConfig,
  requireOwnRoot,
  sourceRoot,
} from '../../../cli/run/source/source-root.ts';
import { extractArchive } from '../../../shared/archive/extract-archive.ts';

const execute = promisify(execFile);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-folder-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const tree = {
  '.gitignore': '*.log\n',
  '.mpsignore': 'docs/\n*.csv\n!keep.csv\n',
  'train.py': '',
  'a.log': '',
  'docs/index.md': '',
  'data/big.csv': '',
  'data/keep.csv': '',
  '.venv/bin/python': '',
  'node_modules/a/index.js': '',
  'lib/__pycache__/a.pyc': '',
  '01m81vnz70vmqzhdpxra5dgmp1/model.txt': '',
  'mps-ci.json': '',
  'mps-ci.onnx.data': '',
  'mps-ci.receipt.svg': '',
  'mps-ci.yaml': '',
  'lib/ä b.py': '',
};
const admitted = ['.gitignore', '.mpsignore', 'data/keep.csv', 'lib/ä b.py', 'mps-ci.yaml', 'train.py'];

describe('listFiles', () => {
  test('admits the same within git and without', async () => {
    await write(tree);
    expect((await listFiles(folder)).files).toEqual(admitted);
    await execute('git', ['init', '--quiet'], { cwd: folder });
    expect((await listFiles(folder)).files).toEqual(admitted);
  });
});

describe('a folder in git', () => {
  const git = (place: string, ...args: string[]) =>
    execute(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always', ...args],
      { cwd: place },
    );

  const leftOut = async (project?: string) => {
    const { notes, lines } = await nameLeftOut(await listFiles(folder), { root: folder, folder, project });
    return { notes, lines: lines(undefined), besides: lines };
  };

  test.each(['within git', 'without git'])(
    'names what .gitignore leaves out and how to have it, without caches and packages, %s',
    async (place) => {
      await write({
        '.gitignore': 'data/\n*.pt\n*.csv\nnode_modules/\n*.pyc\n',
        'data/a/x.csv': '1234',
        'data/y.csv': '12',
      });
      await write({
        'w.pt': '1',
        'a.pyc': '',
        'node_modules/b/i.js': '',
        'my set/1.csv': '1',
        'my set/2.csv': '',
      });
      if (place === 'within git') await git(folder, 'init', '--quiet');

      const { lines, notes, besides } = await leftOut('digits');

      expect(lines).toEqual([
        'Left out by .gitignore: data/ (2 files, 6 B); to use it: mps data push data data -p digits',
        "Left out by .gitignore: my set/ (2 files, 1 B); to use it: mps data push my-set 'my set' -p digits",
        'Left out by .gitignore: w.pt (1 file, 1 B); to use it: mps data push w.pt w.pt --as-file -p digits',
      ]);
      expect(besides('data')).toEqual(lines.slice(1));
      expect(notes[0]).toEqual({
        path: 'data/',
        why: 'ignored',
        advice: 'mps data push data data -p digits',
        dataset: 'data',
      });
    },
  );

  test('gives data sets names that differ, measures what a link leads to, and names at most six', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'mps-elsewhere-'));
    try {
      await writeFile(join(elsewhere, 'big.bin'), '1234567');
      await write({ '.gitignore': '/linked\ndata/\n*.bin\n', 'a/data/x': '123', 'b/data/x': '12' });
      await write(Object.fromEntries([...'12345'].map((name) => [`-${name}.bin`, ''])));
      await symlink(elsewhere, join(folder, 'linked'));
      await git(folder, 'init', '--quiet');

      const { lines } = await leftOut();

      expect(lines.slice(0, 3)).toEqual([
        'Left out by .gitignore: linked/ (1 file, 7 B); to use it: mps data push linked linked',
        'Left out by .gitignore: a/data/ (1 file, 3 B); to use it: mps data push data a/data',
        'Left out by .gitignore: b/data/ (1 file, 2 B); to use it: mps data push b-data b/data',
      ]);
      expect(lines[3]).toContain('mps data push 1.bin ./-1.bin --as-file');
      expect(lines.slice(6)).toEqual(['Left out: 2 more paths']);
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });

  test('has the files of its checked-out submodules, also new ones, and names the others', async () => {
    const library = await mkdtemp(join(tmpdir(), 'mps-library-'));
    try {
      await writeFile(join(library, 'mod.py'), '');
      await git(library, 'init', '--quiet');
      await git(library, 'add', '.');
      await git(library, 'commit', '--quiet', '-m', 'one');
      await write({ 'train.py': '' });
      await git(folder, 'init', '--quiet');
      for (const name of ['lib', 'other']) await git(folder, 'submodule', '--quiet', 'add', library, name);
      await git(folder, 'submodule', '--quiet', 'deinit', '--force', 'other');
      await write({ 'lib/new.py': '' });

      const { files, absent } = await listFiles(folder);
      const { lines, notes } = await leftOut();

      expect(files).toEqual(['.gitmodules', 'lib/mod.py', 'lib/new.py', 'train.py']);
      expect(absent).toEqual(['other']);
      expect(lines).toEqual([
        'Left out: other/, a git submodule that is not checked out; to send it: git submodule update --init other',
      ]);
      expect(notes).toMatchObject([{ path: 'other/', why: 'submodule' }]);
    } finally {
      await rm(library, { recursive: true, force: true });
    }
  });
});

describe('a folder of a larger source', () => {
  test('is listed from the source, by the rules of both folders', async () => {
    await write({ '.mpsignore': '*.md\n', 'a.md': '', 'lib/common.py': '', 'app/.mpsignore': 'old/\n' });
    await write({
      'app/train.py': '',
      'app/old/x.py': '',
      'lib/old/y.py': '',
      'app/mps-requirements.txt': '',
    });

    const { files } = await listFiles(folder, 'app');

    expect(files).toEqual(['.mpsignore', 'app/.mpsignore', 'app/train.py', 'lib/common.py', 'lib/old/y.py']);
    expect(pathsBelow(files, 'app')).toEqual(['.mpsignore', 'train.py']);
    expect(await sourceRoot(join(folder, 'app'), '..')).toEqual({ root: folder, sub: 'app' });
    for (const given of ['../lib', 'train.py', '../../nowhere'])
      await expect(sourceRoot(join(folder, 'app'), given)).rejects.toThrow(
        /^root: .* must be a folder above/,
      );
  });
});

describe('a project of a stranger', () => {
  test('does not make mps.yaml send what lies beside it', async () => {
    await write({ 'secret.txt': '', 'project/app/train.py': '', 'project/.git/HEAD': '' });
    const app = join(folder, 'project', 'app');

    await expect(requireOwnRoot(app, '..')).resolves.toBeUndefined();
    await expect(requireOwnRoot(app, '../..')).rejects.toThrow(
      /^mps.yaml: root .* mps run --root \.\.\/\.\.$/,
    );
    await rm(join(folder, 'project', '.git'), { recursive: true });
    await expect(requireOwnRoot(app, '..')).rejects.toThrow(
      'is no part of a git repository with this folder',
    );
    await expect(requireOwnRoot(app, '.')).resolves.toBeUndefined();
  });

  test('does not name a configuration out of what is sent, by a path or a link', async () => {
    await write({ 'logins.json': '{}', 'project/train.yaml': '', 'project/app/a.yaml': '' });
    const root = join(folder, 'project');
    const place = { root, folder: join(root, 'app'), by: 'mps.yaml' };
    await symlink('../../logins.json', join(root, 'app', 'link.json'));

    for (const own of ['a.yaml', '../train.yaml', 'absent.yaml'])
      await expect(requireOwnConfig(place, own)).resolves.toBeUndefined();
    for (const other of ['../../logins.json', join(folder, 'logins.json'), 'link.json'])
      await expect(requireOwnConfig(place, other)).rejects.toThrow(
        /^mps.yaml: config .* is not in the folder/,
      );
  });

  test('runs no program that its repository names', async () => {
    const ran = join(folder, 'ran');
    const git = (...args: string[]) =>
      execute('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder });
    await write({ '.gitattributes': '*.py filter=evil\n', 'a.py': 'a\n' });
    await git('init', '--quiet');
    await git('add', '.');
    await git('commit', '--quiet', '-m', 'first');
    await write({ 'a.py': 'b\n', '.git/hooks/post-index-change': `#!/bin/sh\ntouch ${ran}\n` });
    await chmod(join(folder, '.git', 'hooks', 'post-index-change'), 0o755);
    await git('config', 'core.fsmonitor', `touch ${ran}; false`);
    await git('config', 'filter.evil.clean', `touch ${ran}; cat`);
    await git('config', 'filter.evil.required', 'true');

    const { files } = await listFiles(folder);
    const { state } = await gitState(folder);

    expect(files).toEqual(['.gitattributes', 'a.py']);
    expect(state.git_dirty).toBe(true);
    expect(await readdir(folder)).not.toContain('ran');
  });

  test('knows where its repository begins, also before the first commit', async () => {
    await execute('git', ['init', '--quiet'], { cwd: folder });
    await mkdir(join(folder, 'app'));

    expect(await gitState(join(folder, 'app'))).toEqual({ state: {}, above: '..' });
  });
});

describe('a source', () => {
  const sources = async () => inspectFiles(folder, await listFiles(folder));
  const packed = async (name: string) => {
    return packFiles(folder, await sources(), join(tmpdir(), `${name}-${process.pid}.tar.gz`), {
      signal: new AbortController().signal,
    });
  };

  const limits = { maxBytes: 1e6, maxEntries: 1000, maxPathBytes: 1000, maxDepth: 20 };
  /** Packs the folder and unpacks it as a job does: the content of each file. */
  const unpacked = async (): Promise<Record<string, string>> => {
    const archive = await packed('linked');
    const into = await mkdtemp(join(tmpdir(), 'mps-unpacked-'));
    try {
      await extractArchive({ file: archive.path, into, limits });
      const entries = await readdir(into, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      return Object.fromEntries(
        await Promise.all(
          files.map(async ({ parentPath, name }) => {
            const path = join(parentPath, name);
            return [relative(into, path), await readFile(path, 'utf8')] as const;
          }),
        ),
      );
    } finally {
      await Promise.all([rm(into, { recursive: true }), rm(archive.path)]);
    }
  };
  const linkTo = (target: string, path: string) => symlink(target, join(folder, path));

  test.each(['within git', 'without git'])('takes along what its links lead to, %s', async (place) => {
    await write({
      'a.py': 'a',
      'data/b.csv': 'b',
      'data/old/c.csv': 'c',
      'data/secret.log': 'no',
      '.gitignore': '*.log',
    });
    if (place === 'within git') await execute('git', ['init', '--quiet'], { cwd: folder });
    await linkTo('a.py', 'file');
    await linkTo('file', 'again');
    await linkTo('data', 'folder');
    await linkTo('../../a.py', 'data/old/up.py');
    await link(join(folder, 'a.py'), join(folder, 'hard.py'));
    expect((await sources()).leftOut).toEqual([]);
    expect(await unpacked()).toEqual({
      '.gitignore': '*.log',
      'a.py': 'a',
      again: 'a',
      file: 'a',
      'hard.py': 'a',
      'data/b.csv': 'b',
      'data/old/c.csv': 'c',
      'data/old/up.py': 'a',
      'folder/b.csv': 'b',
      'folder/old/c.csv': 'c',
      'folder/old/up.py': 'a',
    });
  });

  test('leaves out links that lead nowhere, out of the folder, in a circle or to what is ignored, and says so', async () => {
    await write({ 'a.py': '', 'b/x.py': '', 'c/y.py': '', 'kept/z.csv': '', '.mpsignore': 'kept/\n' });
    await linkTo('missing', 'broken');
    await linkTo('/etc', 'outside');
    await linkTo('.', 'loop');
    await linkTo('itself', 'itself');
    await linkTo('../c', 'b/to-c');
    await linkTo('../b', 'c/to-b');
    await linkTo('kept/z.csv', 'z.csv');
    await linkTo('kept', 'all');
    const { files, leftOut } = await sources();
    expect(files.map(({ path }) => path)).toEqual([
      '.mpsignore',
      'a.py',
      'b/to-c/y.py',
      'b/x.py',
      'c/to-b/x.py',
      'c/y.py',
    ]);
    expect(leftOut.map(leftOutText)).toEqual([
      'all: a link to kept, which is ignored',
      'b/to-c/to-b: a link to a folder that contains the link',
      'broken: a link to nothing',
      'c/to-b/to-c: a link to a folder that contains the link',
      'itself: a link to nothing',
      'loop: a link to a folder that contains the link',
      'outside: a link out of the folder',
      'z.csv: a link to kept/z.csv, which is ignored',
    ]);
  });

  test.each(['within git', 'without git'])(
    'has its empty folders, and those behind links, %s',
    async (place) => {
      await write({ 'a.py': '', 'logs/.mpsignore': '', '.gitignore': 'cache/\n', 'new/cache/x': '' });
      for (const path of ['runs/first', 'new/empty', 'new/cache/empty', 'cache', '.venv/lib'])
        await mkdir(join(folder, path), { recursive: true });
      if (place === 'within git') await execute('git', ['init', '--quiet'], { cwd: folder });
      await linkTo('runs', 'again');

      const { folders, leftOut } = await sources();
      const archive = await packed('folders');
      const { stdout } = await execute('tar', ['tzf', archive.path]);
      await rm(archive.path);

      expect(folders).toEqual(['again/first', 'new/empty', 'runs/first']);
      expect(leftOut).toEqual([]);
      expect(stdout.split('\n').filter((path) => path.endsWith('/'))).toEqual(
        folders.map((path) => `./${path}/`),
      );
    },
  );

  test.each(['within git', 'without git'])('has no name that a job refuses, %s', async (place) => {
    const long = Array.from({ length: 7 }, () => 'l'.repeat(160)).join('/');
    await write({ 'a.py': 'a', 'tab\tname.txt': '', 'bell\u0007/x/1': '', 'bell\u0007/y/2': '', 'b\\c': '' });
    await write({ 'C:x': '', [`${long}/x`]: '', [`${Array.from({ length: 70 }, () => 'd').join('/')}`]: '' });
    await writeFile(Buffer.from(`${folder}/latin-\xe9.txt`, 'latin1'), '');
    await mkdir(join(folder, 'line\nbreak'));
    if (place === 'within git') await execute('git', ['init', '--quiet'], { cwd: folder });

    const { leftOut } = await sources();

    expect(leftOut.map(leftOutText).map((text) => text.replace(/^(?:l{160}|d\/)[ld/]*/, '…'))).toEqual([
      '"bell\\u0007/": its path holds a control character',
      '"latin-\ufffd.txt": its path is not valid Unicode',
      '"line\\nbreak": its path holds a control character',
      '"tab\\tname.txt": its path holds a control character',
      'C:x: its path starts with a drive letter',
      'b\\c: its path holds a backslash; use / between folders',
      '…: it is more than 64 folders deep',
      '…: its path is longer than 1024 bytes',
    ]);
    expect(await unpacked()).toEqual({ 'a.py': 'a' });
  });

  test('without the program that the command runs is refused, with the way to send it', async () => {
    await write({
      'shared/train.py': '',
      'app/other.py': '',
      'app/kept/x.py': '',
      'app/.mpsignore': 'kept\n',
    });
    const app = join(folder, 'app');
    await symlink('../shared/train.py', join(app, 'train.py'));
    await symlink('../shared', join(app, 'lib'));
    await symlink('kept/x.py', join(app, 'x.py'));
    const { leftOut } = await inspectFiles(app, await listFiles(app));
    const required = (command: string, repository = folder) =>
      requireProgram(command, leftOut, { folder: app, sub: '', repository });

    await required('python other.py --data train.csv');
    await required('python other.py /etc/train.py');
    await expect(required('python ./train.py --lr 1')).rejects.toThrow(
      'The command runs train.py: a link out of the folder. To send both: mps run --root .. -- python ./train.py --lr 1',
    );
    for (const command of ['python -m train', 'python -m lib.train', 'torchrun lib/train.py', './lib/run'])
      await expect(required(command)).rejects.toThrow('To send both: mps run --root .. -- ');
    await expect(required('python train.py', app)).rejects.toThrow('Put the file itself into the folder.');
    await expect(required('python x.py')).rejects.toThrow('x.py: a link to kept/x.py, which is ignored. Put');
  });

  test('of more files than a job takes is refused', async () => {
    await write({ 'a.py': '', 'b/c.py': 'ab' });
    const limits = { maxEntries: 2, maxBytes: 1, maxPathBytes: 100, maxDepth: 5 };
    await expect(inspectFiles(folder, await listFiles(folder), limits)).rejects.toThrow(
      'This folder has 3 files and folders; at most 2 are allowed, and 2 B; at most 1 B are allowed.',
    );
  });

  test('whose links multiply its files beyond measure is refused', async () => {
    for (let level = 0; level < 20; level += 1) {
      await write({ [`${level}/x`]: '' });
      await linkTo(`../${level + 1}`, `${level}/a`);
      await linkTo(`../${level + 1}`, `${level}/b`);
    }
    await write({ '20/x': '' });
    await expect(sources()).rejects.toThrow(/^The links in this folder lead to more than 100,000 files/);
  });

  test('of the same files is the same archive', async () => {
    await write({ 'a.py': 'a', '@b/c.py': 'c' });
    const first = await packed('first');
    await write({ 'a.py': 'a' });
    const second = await packed('second');
    expect(second.sha256).toBe(first.sha256);
    await execute('tar', ['xzf', second.path, '-C', folder, './@b/c.py']);
    await Promise.all([rm(first.path), rm(second.path)]);
  });

  test('gets the requirements that a lock file became, each time alike', async () => {
    await write({ 'a.py': 'a', 'mps-requirements.txt': 'of the folder' });
    const files = await sources();
    const path = join(tmpdir(), `added-${process.pid}.tar.gz`);
    const added = { path: 'mps-requirements.txt', content: 'click==8.1.8\n' };
    const packing = { signal: new AbortController().signal, added: [added] };
    const first = await packFiles(folder, files, path, packing);
    expect((await packFiles(folder, files, path, packing)).sha256).toBe(first.sha256);
    const { stdout } = await execute('tar', ['xzf', path, '-O', './mps-requirements.txt']);
    await rm(path);
    expect(stdout).toBe(added.content);
  });

  test('that changes while it is packed is refused', async () => {
    await write({ 'a.py': 'a' });
    const files = await sources();
    await write({ 'a.py': 'longer' });
    const path = join(tmpdir(), `changed-${process.pid}.tar.gz`);
    const packing = packFiles(folder, files, path, { signal: new AbortController().signal });
    await expect(packing).rejects.toThrow('changed while they were packed: a.py');
    await rm(join(folder, 'a.py'));
    const gone = packFiles(folder, files, path, { signal: new AbortController().signal });
    await expect(gone).rejects.toThrow('changed while they were packed: a.py');
    await rm(path, { force: true });
  });
});

describe('chooseEnvironment', () => {
  const choose = (files: Readonly<Record<string, string>>) =>
    write(files).then(() => chooseEnvironment(folder, new Set(Object.keys(files)), {}));

  test.each([
    {
      files: { 'requirements.txt': 'a' },
      chosen: { env_type: 'python', dependencies: '-r requirements.txt' },
    },
    {
      files: { 'pyproject.toml': '[project]\nname = "a"\ndependencies = ["numpy>=2", "onnx"]\n' },
      chosen: { env_type: 'python', dependencies: 'numpy>=2\nonnx' },
    },
    { files: { 'pyproject.toml': '[tool.ruff]\n' }, chosen: { env_type: 'system', dependencies: 'none' } },
    {
      files: { 'package.json': '{"dependencies": {"a": "^1.0.0"}}' },
      chosen: { env_type: 'node', dependencies: 'a@^1.0.0' },
    },
    {
      files: {
        'package.json': '{"dependencies": {"a": "^1.0.0", "b": "file:../b"}}',
        'package-lock.json':
          '{"packages": {"node_modules/a": {"version": "1.2.3"}, "node_modules/b": {"link": true}}}',
      },
      chosen: { env_type: 'node', dependencies: 'a@1.2.3\nb@file:../b', reason: 'package-lock.json' },
    },
    { files: { 'package.json': '{}' }, chosen: { env_type: 'node', dependencies: 'none' } },
    { files: { 'train.py': '' }, chosen: { env_type: 'system', dependencies: 'none' } },
  ])('$files', async ({ files, chosen }) => {
    expect(await choose(files as Record<string, string>)).toMatchObject(chosen);
  });

  test('refuses a file that cannot be read, by its name', async () => {
    await expect(choose({ 'package.json': '{' })).rejects.toThrow(/^package\.json cannot be read: /);
  });
});

describe('mps.yaml', () => {
  test('is read', async () => {
    await write({ 'mps.yaml': 'project: Digits\nnodes: 2\nenvironment:\n  type: system\n' });
    expect(await readProjectFile(folder)).toEqual({
      project: 'Digits',
      nodes: 2,
      environment: { type: 'system' },
    });
  });

  test('names all its faults at once', async () => {
    await write({ 'mps.yaml': 'projekt: a\nnodes: many\nenvironment:\n  type: conda\n  version: 3\n' });
    const error = await readProjectFile(folder).catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/projekt: unknown\. Did you mean project\?/);
    expect(String(error)).toMatch(/nodes: .*number/);
    expect(String(error)).toMatch(/environment\.type: .*"python"/);
    expect(String(error)).toMatch(/environment\.version: unknown\. Known are type, dependencies/);
  });

  test('says that a version of Python is a text, because YAML drops the zero of 3.10', async () => {
    await write({ 'mps.yaml': 'python: 3.10\n' });
    await expect(readProjectFile(folder)).rejects.toThrow('python: "3.10"');
  });

  test.each(['- a\n', 'a: [\n', 'text'])('%j is refused', async (content) => {
    await write({ 'mps.yaml': content });
    await expect(readProjectFile(folder)).rejects.toThrow('mps.yaml cannot be used');
  });
});
