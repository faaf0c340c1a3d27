import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ArchiveLimits, shown } from '../../../shared/archive/archive-error.ts';
import { sourceLimits } from '../../../shared/archive/archive-limits.ts';
import { entryPathFault } from '../../../shared/archive/entry-path.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type FolderLink, inspectSymlink, linkedFiles } from './inspect-symlink.ts';
import type { ListedFiles } from './list-files.ts';
import type { LeftOutPath, SourceFile, SourceFiles } from './source-file.ts';

/**
 * Read the size and the modification time of each file. Replace a link by its target: a file, or the listed files
 * of a folder. Ignored files stay ignored, even through a link. Leave out paths that no job takes.
 *
 * @param limits what a job takes
 * @throws CliError for more files or bytes than a job takes
 */
export async function inspectFiles(
  folder: string,
  listed: Pick<ListedFiles, 'files' | 'folders'>,
  limits: ArchiveLimits = sourceLimits,
): Promise<SourceFiles> {
  const root = await realpath(folder);
  const known = listedPaths([...listed.files, ...listed.folders]);
  const refused = new Map<string, LeftOutPath>();
  const isTaken = (path: string): boolean => {
    const fault = pathFault(path, limits);
    if (fault !== undefined) refused.set(fault.path, fault);
    return fault === undefined;
  };
  const files: SourceFile[] = [];
  const leftOut: LeftOutPath[] = [];
  const links: FolderLink[] = [];
  for (const one of await inspectAll(root, listed.files.filter(isTaken), (target) => known.has(target))) {
    if (one === undefined) continue;
    if ('why' in one) leftOut.push(one);
    else if ('place' in one) links.push(one);
    else files.push(one);
  }
  const folders = listed.folders.filter(isTaken);
  const linked = linkedFiles(links, files, folders);
  const all = {
    files: [...files, ...linked.files.filter(({ path }) => isTaken(path))].sort((a, b) =>
      a.path < b.path ? -1 : 1,
    ),
    folders: [...folders, ...linked.folders.filter(isTaken)].sort(),
  };
  requireLimits(all, limits);
  const isInRefused = ({ path }: LeftOutPath) => refused.has(path);
  return {
    ...all,
    leftOut: [...leftOut, ...linked.leftOut.filter((one) => !isInRefused(one)), ...refused.values()].sort(
      (a, b) => (leftOutText(a) < leftOutText(b) ? -1 : 1),
    ),
  };
}

/** @example leftOutText({ path: 'a', why: 'a link to nothing' }) // 'a: a link to nothing' */
export const leftOutText = ({ path, why }: LeftOutPath): string =>
  `${/[\p{Cc}\ufffd]/u.test(path) ? shown(path) : path}: ${why}`;

/** Return the first folder of a path, or the path, that no job takes; undefined if a job takes all of it. */
function pathFault(path: string, limits: ArchiveLimits): LeftOutPath | undefined {
  const why = entryPathFault(path, limits);
  if (why === undefined) return undefined;
  const names = path.split('/');
  const parents = names.slice(1).map((_, count) => names.slice(0, count + 1).join('/'));
  const first = parents.find((parent) => entryPathFault(parent, limits) !== undefined);
  return first === undefined ? { path, why } : { path: `${first}/`, why };
}

/** @throws CliError for more than a job takes */
function requireLimits(
  { files, folders }: Pick<SourceFiles, 'files' | 'folders'>,
  { maxEntries, maxBytes }: ArchiveLimits,
): void {
  const entries = listedPaths([...files.map(({ path }) => path), ...folders]).size;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const faults = [
    ...(entries > maxEntries
      ? [
          `${entries.toLocaleString('en')} files and folders; at most ${maxEntries.toLocaleString('en')} are allowed`,
        ]
      : []),
    ...(bytes > maxBytes ? [`${bytesText(bytes)}; at most ${bytesText(maxBytes)} are allowed`] : []),
  ];
  if (faults.length === 0) return;
  throw new CliError(
    `This folder has ${faults.join(', and ')}. List in .mpsignore what is not needed.`,
    exitCodes.usage,
  );
}

/** Return the listed paths and all their parent folders. */
function listedPaths(paths: readonly string[]): Set<string> {
  const listed = new Set<string>();
  for (const path of paths) {
    for (let one = path; one !== '.' && !listed.has(one); one = dirname(one)) listed.add(one);
  }
  return listed;
}

/** Files to inspect concurrently. */
const atOnce = 64;

async function inspectAll(
  root: string,
  paths: readonly string[],
  isListed: (target: string) => boolean,
): Promise<Inspected[]> {
  const inspected: Inspected[] = [];
  for (let at = 0; at < paths.length; at += atOnce) {
    const some = paths.slice(at, at + atOnce);
    inspected.push(...(await Promise.all(some.map((path) => inspect(root, path, isListed)))));
  }
  return inspected;
}

type Inspected = SourceFile | FolderLink | LeftOutPath | undefined;

async function inspect(
  root: string,
  path: string,
  isListed: (target: string) => boolean,
): Promise<Inspected> {
  const found = await lstat(join(root, path)).catch(() => undefined);
  // git still lists deleted files.
  if (found === undefined) return undefined;
  if (found.isDirectory()) return { path, why: 'a separate git repository' };
  if (found.isSymbolicLink()) return inspectSymlink(root, path, isListed);
  if (!found.isFile()) return { path, why: 'neither a file nor a link' };
  return { path, size: found.size, changed: found.mtimeMs };
}
