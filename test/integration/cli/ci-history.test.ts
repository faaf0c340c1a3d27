import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { fileOfCommit, readHistory } from '../../../cli/ci/history.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-ci-history-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const git = async (...args: string[]) => {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];
  return (await promisify(execFile)('git', [...identity, ...args], { cwd: folder })).stdout.trim();
};
const commit = async (name: string) => {
  await writeFile(join(folder, name), name);
  await git('add', '-A');
  await git('commit', '-qm', name);
  return git('rev-parse', 'HEAD');
};
const history = (against = 'main') => readHistory(folder, against, { shown: undefined, isCi: false });

test('a rebased branch is compared with the commit that it is rebased on', async () => {
  await git('init', '-q');
  const before = await commit('a');
  await git('checkout', '-qb', 'branch');
  const old = await commit('b');
  await git('checkout', '-q', 'main');
  const newer = await commit('c');
  await git('checkout', '-q', 'branch');

  expect((await history()).ancestors).toEqual([before]);
  await git('rebase', '-q', 'main');
  const rebased = await history();
  expect(rebased).toMatchObject({ ancestors: [newer, before], why: undefined });
  expect(rebased.commit).not.toBe(old);
  // Main is rewritten: what it no longer has is no base.
  await git('branch', '-qf', 'main', before);
  expect((await history()).ancestors).toEqual([before]);
});

test('a merge on the target branch is compared with its commit before, not with the merged branch', async () => {
  await git('init', '-q');
  const before = await commit('a');
  await git('checkout', '-qb', 'branch');
  await commit('b');
  await git('checkout', '-q', 'main');
  await git('merge', '-q', '--no-ff', '-m', 'Merge', 'branch');

  expect((await history()).ancestors).toEqual([before]);
});

test('no branch, and none with such a name, is told; nothing in a name is an option of git', async () => {
  await git('init', '-q');
  await commit('a');

  expect(await history('--output=written')).toMatchObject({
    ancestors: [],
    why: expect.stringContaining('no branch --output=written'),
  });
  expect((await history('main')).why).toContain('no commit before');
});

test('a shallow checkout of a merge is deepened to the commit before', async () => {
  await git('init', '-q');
  const before = await commit('a');
  await git('checkout', '-qb', 'pull');
  const shown = await commit('b');
  await git('checkout', '-q', 'main');
  await commit('c');
  await git('checkout', '-q', 'pull');
  await git('merge', '-q', '--no-ff', '-m', 'Merge', 'main');
  const newer = await git('rev-parse', 'main');
  const origin = folder;
  folder = await mkdtemp(join(tmpdir(), 'mps-ci-clone-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await git('clone', '-q', '--depth', '1', '--branch', 'pull', `file://${origin}`, '.');

  const found = await readHistory(folder, 'main', { shown, isCi: true });

  expect(found).toMatchObject({ commit: shown, ancestors: [newer, before] });
});

test('a link of the target branch is followed within its repository, and out of it is told', async () => {
  await git('init', '-q');
  await mkdir(join(folder, 'stored'));
  await writeFile(join(folder, 'stored/v1.onnx'), 'first');
  await symlink('stored/v1.onnx', join(folder, 'model.onnx'));
  await symlink('/etc/hostname', join(folder, 'absolute.onnx'));
  await symlink('../../elsewhere.onnx', join(folder, 'stored/above.onnx'));
  const sha = await commit('a');
  const target = await mkdtemp(join(tmpdir(), 'mps-ci-target-'));
  onTestFinished(() => rm(target, { recursive: true, force: true }));

  const found = await fileOfCommit(folder, sha, 'model.onnx', target);

  expect(await readFile(found ?? '', 'utf8')).toBe('first');
  for (const path of ['absolute.onnx', 'stored/above.onnx'])
    await expect(fileOfCommit(folder, sha, path, target)).rejects.toThrow(
      `${path} of ${sha.slice(0, 10)} is a link that leads to no file of the repository.`,
    );
});
