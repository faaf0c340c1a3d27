import { execFile } from 'node:child_process';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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
  const stem = basename(path).replace(/\.onnx$/, '');
  const isThere = await withGit(folder, async (git, within) => {
    const beside = join(within, dirname(path))
      .replaceAll('\\', '/')
      .replace(/^\.?\/?/, '');
    const names = await listed(git, commit, beside);
    const copied = names.filter(
      (name) => name === basename(path) || name.startsWith(`${stem}.`) || name.startsWith(`${stem}_`),
    );
    if (!copied.includes(basename(path))) return false;
    for (const name of copied) {
      const at = beside === '' || beside === '.' ? name : `${beside}/${name}`;
      await git(
        `--work-tree=${target}`,
        'restore',
        `--source=${commit}`,
        '--worktree',
        '--',
        `:(top,literal)${at}`,
      );
    }
    return true;
  });
  if (!isThere) return undefined;
  const [found] = (await readdir(target, { recursive: true })).filter(
    (name) => basename(name) === basename(path),
  );
  if (found === undefined) return undefined;
  await refusePointer(join(target, found), path);
  return join(target, found);
}

async function listed(git: Git, commit: string, beside: string): Promise<string[]> {
  const tree = beside === '' || beside === '.' ? `${commit}^{tree}` : `${commit}:${beside}`;
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
