import { lstat, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { quoteCommand } from '../../../shared/command/quote-command.ts';
import { type LeftOut, maxLeftOut } from '../../../shared/config/source-notes.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import type { ListedFiles } from './list-files.ts';

/**
 * Say what a source leaves out, with the command that provides it: the source's notes have it for the reason of a
 * failure, and `mps` prints a line for each before the upload.
 *
 * @param place the source, the folder of the command, and the project if a flag names it
 */
export async function nameLeftOut(
  { ignored, absent }: Pick<ListedFiles, 'ignored' | 'absent'>,
  place: SourcePlace,
): Promise<NamedPaths> {
  const names = new Set<string>();
  const measured = await measureAll(place.root, groupsOf(ignored));
  const found = [
    ...absent.map((path) => submodule(path, place)),
    ...measured.map((one) => ignoredPath(one, names, place)),
  ];
  return {
    notes: found.slice(0, maxLeftOut).map(({ note }) => note),
    lines(dataset) {
      const others = found.filter(({ note }) => note.dataset === undefined || note.dataset !== dataset);
      const more = others.length - maxLines;
      return [
        ...others.slice(0, maxLines).map(({ line }) => line),
        ...(more > 0 ? [`Left out: ${more} more ${more === 1 ? 'path' : 'paths'}`] : []),
      ];
    },
  };
}

interface NamedPaths {
  notes: LeftOut[];
  /** Return a line for each path, without that which the training's data set replaces. */
  lines(dataset: string | undefined): string[];
}

interface SourcePlace {
  root: string;
  folder: string;
  project: string | undefined;
}

/** Lines to print. */
const maxLines = 6;

/** Paths to measure, and files to count in each of them. */
const maxMeasured = 50;
const maxCounted = 2_000;

/** A file or folder that is left out. The paths of folders end with a slash. */
interface Measured {
  path: string;
  files: number;
  bytes: number;
  /** Whether it has more files than were counted. */
  isMore: boolean;
}

/** Replace several paths of one folder by the folder. Return the paths to measure by the path to name. */
function groupsOf(ignored: readonly string[]): Map<string, string[]> {
  let groups = new Map(ignored.map((path) => [path, [path]]));
  for (;;) {
    const counts = new Map<string, number>();
    for (const path of groups.keys()) counts.set(parentOf(path), (counts.get(parentOf(path)) ?? 0) + 1);
    const joined = new Map<string, string[]>();
    for (const [path, paths] of groups) {
      const parent = parentOf(path);
      const name = parent !== '' && (counts.get(parent) ?? 0) > 1 ? parent : path;
      joined.set(name, [...(joined.get(name) ?? []), ...paths]);
    }
    if (joined.size === groups.size) return joined;
    groups = joined;
  }
}

/** @example parentOf('a/b/') // 'a/' */
const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);

/** Measure paths that have files, the largest first. */
async function measureAll(root: string, groups: ReadonlyMap<string, readonly string[]>): Promise<Measured[]> {
  const some = [...groups].slice(0, maxMeasured);
  const measured = await Promise.all(some.map(([path, paths]) => measure(root, path, paths)));
  return measured.filter(({ files }) => files > 0).sort((a, b) => b.bytes - a.bytes);
}

async function measure(root: string, path: string, paths: readonly string[]): Promise<Measured> {
  const found = { path, files: 0, bytes: 0, isMore: false };
  const add = async (place: string, factsOf: typeof lstat): Promise<void> => {
    if (found.files >= maxCounted) {
      found.isMore = true;
      return;
    }
    const facts = await factsOf(place).catch(() => undefined);
    if (facts?.isFile() === true) {
      found.files += 1;
      found.bytes += facts.size;
    }
    if (facts?.isDirectory() !== true) return;
    // Git lists a link to a folder as a file.
    if (place === join(root, path) && !path.endsWith('/')) found.path = `${path}/`;
    for (const name of await readdir(place).catch(() => [])) await add(join(place, name), lstat);
  };
  for (const one of paths) await add(join(root, one), stat as typeof lstat);
  return found;
}

interface Named {
  line: string;
  note: LeftOut;
}

function submodule(path: string, { root, folder }: SourcePlace): Named {
  const shown = relative(folder, join(root, path));
  const advice = quoteCommand(['git', 'submodule', 'update', '--init', shown]);
  return {
    line: `Left out: ${shown}/, a git submodule that is not checked out; to send it: ${advice}`,
    note: { path: `${path}/`, why: 'submodule', advice },
  };
}

function ignoredPath(
  { path, files, bytes, isMore }: Measured,
  names: Set<string>,
  { root, folder, project }: SourcePlace,
): Named {
  const isFolder = path.endsWith('/');
  const place = relative(folder, join(root, path));
  const dataset = datasetName(path, names);
  const advice = quoteCommand([
    ...['mps', 'data', 'push', dataset, place.startsWith('-') ? `./${place}` : place],
    // A program expects the file itself. Archives, such as .npz files, would be unpacked.
    ...(isFolder ? [] : ['--as-file']),
    ...(project === undefined ? [] : ['-p', project]),
  ]);
  const count = `${isMore ? 'over ' : ''}${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}`;
  const shown = isFolder ? `${place}/` : place;
  return {
    line: `Left out by .gitignore: ${shown} (${count}, ${bytesText(bytes)}); to use it: ${advice}`,
    note: { path, why: 'ignored', advice, dataset },
  };
}

/** Name a data set after a file or folder, by letters that such a name may have, and differently from the others. */
function datasetName(path: string, names: Set<string>): string {
  const parts = path.split('/').filter(Boolean);
  const plain = (text: string) =>
    text
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, maxName) || 'data';
  const candidates = [parts.at(-1) ?? '', parts.join('-')].map(plain);
  let name = candidates.find((candidate) => !names.has(candidate));
  for (let number = 2; name === undefined; number += 1) {
    const numbered = `${candidates[0]}-${number}`;
    if (!names.has(numbered)) name = numbered;
  }
  names.add(name);
  return name;
}

/** Characters of a name, with room for a number. The service allows 128. */
const maxName = 120;
