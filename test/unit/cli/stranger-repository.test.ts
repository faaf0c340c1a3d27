import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gitState } from '../../../cli/run/source/git-state.ts';
import { listFiles } from '../../../cli/run/source/list-files.ts';
import { sampled } from '../../support/samples.ts';

const execute = promisify(execFile);

let folder: string;
let ran: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-stranger-'));
  ran = join(folder, 'ran');
  await mkdir(ran);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const user = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'protocol.file.allow=always'];
const git = (cwd: string, ...args: string[]) => execute('git', [...user, ...args], { cwd });

/** A repository with a commit. */
async function repository(name: string): Promise<string> {
  const made = join(folder, name);
  await mkdir(made);
  await git(made, 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(made, '.gitattributes'), '*.py filter=evil diff=evil merge=evil\n');
  await writeFile(join(made, 'a.py'), 'a\n');
  await commit(made);
  return made;
}

const commit = async (place: string) => {
  await git(place, 'add', '.');
  await git(place, 'commit', '--quiet', '-m', 'first');
};

/** Every setting of git that names a program, and those by which another one comes into force. */
const settings = [
  ...['core.fsmonitor', 'core.sshCommand', 'core.pager', 'core.editor', 'core.askPass', 'core.gitProxy'],
  ...['core.alternateRefsCommand', 'sequence.editor', 'diff.external', 'credential.helper', 'gpg.program'],
  ...['gpg.ssh.program', 'gpg.x509.program', 'gpg.ssh.defaultKeyCommand', 'uploadpack.packObjectsHook'],
  ...['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'diff.evil.textconv'],
  ...['diff.evil.command', 'merge.evil.driver', 'interactive.diffFilter', 'pager.status', 'pager.ls-files'],
  ...['remote.origin.uploadpack', 'remote.origin.vcs', 'browser.evil.cmd', 'mergetool.evil.cmd'],
  ...['difftool.evil.cmd', 'man.evil.cmd', 'guitool.evil.cmd', 'trailer.evil.command', 'sendemail.tocmd'],
  ...[
    'alias.status',
    'alias.ls-files',
    'alias.rev-parse',
    'submodule.sub.update',
    'lfs.extension.evil.clean',
  ],
];

/** Name a program in each setting of a repository, in a file that it includes, in its hooks and in attributes of its own. */
async function poison(gitFolder: string): Promise<void> {
  const lines = settings.map((name) => {
    const [section = '', ...rest] = name.split('.');
    const key = rest.pop() ?? '';
    const words = `${name.startsWith('alias') ? '!' : ''}touch ${ran}/${name}; false`;
    return `[${section}${rest.length > 0 ? ` "${rest.join('.')}"` : ''}]\n\t${key} = "${words}"\n`;
  });
  const further = `[filter "evil"]\n\trequired = true\n[protocol "ext"]\n\tallow = always\n[remote "origin"]\n\tpromisor = true\n\turl = "ext::sh -c touch% ${ran}/ext"\n[extensions]\n\tpartialClone = origin\n\tworktreeConfig = true\n[core]\n\thooksPath = ${gitFolder}/hooks\n\tworktree = /\n`;
  const evil = lines.join('') + further;
  await writeFile(join(gitFolder, 'evil'), evil);
  await writeFile(join(gitFolder, 'config.worktree'), evil);
  await appendFile(join(gitFolder, 'config'), `${evil}[include]\n\tpath = evil\n`);
  await mkdir(join(gitFolder, 'hooks'), { recursive: true });
  for (const hook of ['post-index-change', 'fsmonitor-watchman', 'reference-transaction', 'post-checkout']) {
    await writeFile(join(gitFolder, 'hooks', hook), `#!/bin/sh\ntouch ${ran}/${hook}\n`);
    await chmod(join(gitFolder, 'hooks', hook), 0o755);
  }
}

/** What mps run asks of git. */
const inspect = async (place: string) => ({
  ...(await gitState(place)).state,
  files: (await listFiles(place)).files,
});

const files = ['.gitattributes', 'a.py'];

describe("a stranger's repository starts no program", () => {
  test('by its own settings', async () => {
    const place = await repository('top');
    await poison(join(place, '.git'));
    await writeFile(join(place, 'a.py'), 'b\n');

    const found = await inspect(place);

    expect(await readdir(ran)).toEqual([]);
    expect(found).toMatchObject({ git_branch: 'main', git_dirty: true, files });
    await git(place, 'status').catch(() => undefined);
    expect(await readdir(ran)).not.toEqual([]);
  });

  test.each(sampled([false, true], 2))(
    'by those of a submodule, which may lie in it itself (%s)',
    async (isInside) => {
      const [place, other] = [await repository('top'), await repository('other')];
      await git(place, 'submodule', '--quiet', 'add', other, 'sub');
      await commit(place);
      const clean = await inspect(place);
      const modules = join(place, '.git', 'modules', 'sub');
      const own = join(place, 'sub', '.git');
      if (isInside) {
        await rm(own);
        await rename(modules, own);
      }
      await poison(isInside ? own : modules);
      await writeFile(join(place, 'sub', 'a.py'), 'b\n');

      const found = await inspect(place);

      expect(await readdir(ran)).toEqual([]);
      expect(clean).toMatchObject({ git_dirty: false });
      const all = ['.gitattributes', '.gitmodules', 'a.py', 'sub/.gitattributes', 'sub/a.py'];
      expect(found).toMatchObject({ git_dirty: true, files: all });
    },
  );

  test('by those of a worktree and of the repository that it belongs to', async () => {
    const main = await repository('main');
    const place = join(folder, 'tree');
    await git(main, 'worktree', 'add', '--quiet', '-b', 'other', place);
    await poison(join(main, '.git'));
    await poison(join(main, '.git', 'worktrees', 'tree'));
    await writeFile(join(place, 'a.py'), 'b\n');

    const found = await inspect(place);

    expect(await readdir(ran)).toEqual([]);
    expect(found).toMatchObject({ git_branch: 'other', git_dirty: true, files });
  });

  test('by those of a bare repository, which the folder itself may look like', async () => {
    const place = join(folder, 'bare');
    await git(folder, 'clone', '--quiet', '--bare', await repository('top'), place);
    await poison(place);
    await writeFile(join(place, 'a.py'), 'b\n');

    expect((await gitState(place)).state).toEqual({});
    expect((await listFiles(place)).files).toContain('a.py');
    expect(await readdir(ran)).toEqual([]);
  });

  test('to have an object that it lacks', async () => {
    const place = await repository('top');
    await poison(join(place, '.git'));
    await rm(join(place, '.git', 'objects'), { recursive: true });
    await mkdir(join(place, '.git', 'objects'));

    await gitState(place);
    expect((await listFiles(place)).files).toEqual(files);
    expect(await readdir(ran)).toEqual([]);
  });

  test('to find a submodule that contains itself', async () => {
    const place = await repository('top');
    const { stdout } = await git(place, 'rev-parse', 'HEAD');
    for (const name of ['one', 'two']) {
      await git(place, 'update-index', '--add', '--cacheinfo', `160000,${stdout.trim()},${name}`);
      await symlink('.', join(place, name));
    }

    expect((await inspect(place)).files).toEqual(expect.arrayContaining(files));
  });
});
