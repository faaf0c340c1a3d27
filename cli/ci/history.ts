import { execFile } from 'node:child_process';
import { open, readdir } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { promisify } from 'node:util';
import { withGit } from '../run/source/git.ts';
import type { Git } from '../run/source/git-repository.ts';

/** Commits of the target branch among which the base is looked for. */
const maxAncestors = 200;

/** What git knows of the checked commit. */
export interface History {
  /** The commit that is checked; undefined outside of git. */
  commit: string | undefined;
  /** Epoch seconds of that commit. */
  time: number;
  /** Commits of the target branch that are in the head, the newest first. */
  ancestors: readonly string[];
  /** Why there are none. */
  why: string | undefined;
}

/**
 * Read the history of the head and of its target branch.
 *
 * @param shown commit that people see, if the checkout is a merge that CI made of it
 * @param isCi whether missing history may be fetched
 */
export async function readHistory(
  folder: string,
  against: string,
  { shown, isCi }: { shown: string | undefined; isCi: boolean },
): Promise<History> {
  const first = await readOnce(folder, against, shown);
  if (first.commit === undefined || first.ancestors.length > 0 || !isCi) return first;
  // The checkout of a job usually has one commit.
  const branch = `+refs/heads/${against}:refs/remotes/origin/${against}`;
  const fetch = ['fetch', '--no-tags', '--quiet', `--depth=${maxAncestors}`, 'origin'];
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
  const heads = first.checkedOut === undefined ? [] : [first.checkedOut];
  for (const refs of [[branch, ...heads], [branch]])
    await promisify(execFile)('git', [...fetch, ...refs], { cwd: folder, env, timeout: 120_000 }).catch(
      () => {},
    );
  return readOnce(folder, against, shown);
}

async function readOnce(
  folder: string,
  against: string,
  shown: string | undefined,
): Promise<History & { checkedOut: string | undefined }> {
  const none = { commit: shown, time: 0, ancestors: [], checkedOut: undefined };
  const read = withGit(folder, async (git) => {
    const line = async (...args: string[]) => (await git(...args).catch(() => '')).trim();
    const checkedOut = await line('rev-parse', '--verify', 'HEAD^{commit}');
    const commit = shown ?? checkedOut;
    const time =
      (await line('show', '-s', '--format=%ct', `${commit}^{commit}`)) ||
      (await line('show', '-s', '--format=%ct', 'HEAD'));
    const base = { commit, time: Number(time) || 0, checkedOut };
    const target =
      (await line('rev-parse', '--verify', `refs/remotes/origin/${against}^{commit}`)) ||
      (await line('rev-parse', '--verify', `refs/heads/${against}^{commit}`));
    if (target === '')
      return { ...base, ancestors: [], why: `The repository has no branch ${against}. ${deeper}` };
    const common = await line('merge-base', 'HEAD', target);
    if (common === '')
      return { ...base, ancestors: [], why: `HEAD and ${against} have no common commit here. ${deeper}` };
    // On the target branch itself, its commit before is the base: not that of the branch which HEAD merged.
    const first = common === checkedOut ? ['--first-parent'] : [];
    const listed = await line('rev-list', ...first, `--max-count=${maxAncestors + 1}`, common);
    const ancestors = listed.split('\n').filter((sha) => sha !== '' && sha !== checkedOut && sha !== shown);
    const isShallow = (await line('rev-parse', '--is-shallow-repository')) === 'true';
    const told = `${against} has no commit before this one${isShallow ? ` here. ${deeper}` : '.'}`;
    const why = ancestors.length > 0 ? undefined : told;
    return { ...base, ancestors, why };
  });
  return read.catch(() => ({ ...none, why: 'This folder is in no git repository.' }));
}

const deeper = 'In CI, check it out with "fetch-depth: 0" (GitHub) or GIT_DEPTH: 0 (GitLab).';

/**
 * Write a file, and those beside it that begin with its name, as they are in a commit.
 *
 * @param target empty folder to write to
 * @returns the path of the file; undefined if the commit has none
 * @throws Error if it is only a pointer of Git LFS
 */
export async function fileOfCommit(
  folder: string,
  commit: string,
  path: string,
  target: string,
): Promise<string | undefined> {
  const name = await withGit(folder, async (git, within) => {
    const real = await withoutLinks(git, commit, posix.join(within.replaceAll('\\', '/'), path));
    const [beside, wanted] = [posix.dirname(real), posix.basename(real)];
    const stem = wanted.replace(/\.onnx$/, '');
    const names = await listed(git, commit, beside);
    const copied = names.filter(
      (file) => file === wanted || file.startsWith(`${stem}.`) || file.startsWith(`${stem}_`),
    );
    if (!copied.includes(wanted)) return undefined;
    for (const file of copied) {
      const at = beside === '.' ? file : `${beside}/${file}`;
      await git(
        `--work-tree=${target}`,
        'restore',
        `--source=${commit}`,
        '--worktree',
        '--',
        `:(top,literal)${at}`,
      );
    }
    return wanted;
  });
  if (name === undefined) return undefined;
  const [found] = (await readdir(target, { recursive: true })).filter((file) => basename(file) === name);
  if (found === undefined) return undefined;
  await refusePointer(join(target, found), path);
  return join(target, found);
}

/** Follow the links of a commit from a path to a file. @throws Error if one leads out of the repository */
async function withoutLinks(git: Git, commit: string, path: string): Promise<string> {
  let real = posix.normalize(path);
  for (let links = 0; links < maxLinks; links += 1) {
    const [mode, , object = ''] = (await git('ls-tree', commit, '--', `:(top,literal)${real}`)).split(/\s/);
    if (mode !== '120000') return real;
    const leads = await git('cat-file', 'blob', object);
    real = posix.normalize(posix.join(posix.dirname(real), leads));
    if (posix.isAbsolute(leads) || real.startsWith('../')) break;
  }
  throw new Error(`${path} of ${commit.slice(0, 10)} is a link that leads to no file of the repository.`);
}

const maxLinks = 8;

async function listed(git: Git, commit: string, beside: string): Promise<string[]> {
  const tree = beside === '.' ? `${commit}^{tree}` : `${commit}:${beside}`;
  const names = await git('ls-tree', '-z', '--name-only', tree).catch(() => '');
  return names.split('\0').filter((name) => name !== '');
}

/** Refuse a pointer of Git LFS in the place of a file. @throws Error */
export async function refusePointer(at: string, named: string): Promise<void> {
  const file = await open(at);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    if (buffer.toString('latin1', 0, bytesRead).startsWith('version https://git-lfs'))
      throw new Error(
        `${named} is a pointer of Git LFS. Check it out with "lfs: true", or run "git lfs pull".`,
      );
  } finally {
    await file.close();
  }
}
