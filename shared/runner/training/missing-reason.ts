import { existsSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import type { LeftOut, SourceNotes } from '../../config/source-notes.ts';

/**
 * Return the sentence that tells a user why a program missed a file or module, and what to do: the source leaves it out,
 * or the environment lacks a package.
 *
 * @param crash the error that the program printed last
 * @param place absolute folder of the source, and the folder in it in which the command ran
 * @param linked the path at which the training's data set was; it is not missing
 * @returns undefined if the error is another one
 */
export function missingReason(
  crash: string | undefined,
  { left_out = [], whole }: SourceNotes,
  { source, folder, linked }: { source: string; folder: string; linked: string | undefined },
): string | undefined {
  if (crash === undefined) return undefined;
  const candidates = left_out.filter(({ path }) => path !== linked);
  const shown = ({ path }: LeftOut) => {
    const place = relative(folder, resolve(source, path)).replaceAll(sep, '/');
    return path.endsWith('/') ? `${place}/` : place;
  };
  const module = missingModule.exec(crash)?.[1]?.split('.');
  if (module !== undefined) {
    const candidate = candidates.find(({ path }) => module.includes(basename(path).replace(/\.py$/, '')));
    if (candidate !== undefined) return moduleAdvice(candidate, shown(candidate));
    const ofPackage = packageAdvice(module, { source, folder });
    return [...(whole === undefined ? [] : [wholeAdvice(whole)]), ...ofPackage].join(' ') || undefined;
  }
  const nodePackage = missingNodePackage.exec(crash)?.[1];
  if (nodePackage !== undefined)
    return `The package ${nodePackage} is not installed. List it in package.json.`;
  if (!absence.test(crash)) return undefined;
  const missed = pathsIn(crash).map((path) => relative(source, resolve(folder, path)).replaceAll(sep, '/'));
  const found = candidates.find(({ path }) => missed.some((one) => isWithin(one, path)));
  if (found !== undefined) return fileAdvice(found, shown(found));
  const isOutside = missed.some((one) => one.startsWith('../'));
  return whole !== undefined && isOutside ? wholeAdvice(whole) : undefined;
}

/** Python's, and its form for a package that has no such module. */
const missingModule = /No module named '([\w.]+)'/;

/** Node's, for a package and not for a file: `left-pad`, `@scope/name`. */
const missingNodePackage = /Cannot find (?:module|package) '((?:@[\w.-]+\/)?[\w-][\w.-]*)[^']*'/;

/** Modules whose packages have other names. */
const packageOf: ReadonlyMap<string, string> = new Map([
  ['sklearn', 'scikit-learn'],
  ['skimage', 'scikit-image'],
  ['cv2', 'opencv-python-headless'],
  ['PIL', 'pillow'],
  ['yaml', 'pyyaml'],
  ['bs4', 'beautifulsoup4'],
  ['Bio', 'biopython'],
  ['git', 'gitpython'],
  ['attr', 'attrs'],
  ['dateutil', 'python-dateutil'],
  ['dotenv', 'python-dotenv'],
  ['faiss', 'faiss-cpu'],
  ['hydra', 'hydra-core'],
  ['umap', 'umap-learn'],
  ['community', 'python-louvain'],
  ['pkg_resources', 'setuptools<81'],
]);

/**
 * Advise to list a package. A part of a module that is there is no package, and a module of the source only needs
 * another search path.
 */
function packageAdvice(
  module: readonly string[],
  { source, folder }: { source: string; folder: string },
): string[] {
  const [name = '', ...parts] = module;
  const isOwn = [source, folder].some((place) =>
    [name, `${name}.py`].some((file) => existsSync(join(place, file))),
  );
  if (parts.length > 0 || isOwn) return [];
  const wanted = packageOf.get(name) ?? name;
  return [
    `If ${name} is a package, list ${wanted} with the packages of the folder (requirements.txt, pyproject.toml …), or in mps.yaml: environment: { type: python, dependencies: "${wanted}" }.`,
  ];
}

/** Errors of Python, Node, pandas, Arrow, HDF5 and others for a file that does not exist. */
const absence =
  /FileNotFoundError|ENOENT|no such file|not found|does not exist|doesn't exist|(?:unable|failed|cannot|could not) (?:to )?(?:find|open|read)|no files? found/i;

/** Return the words of a message that may be paths: quoted ones as a whole, and others. */
function pathsIn(message: string): string[] {
  const quoted = [...message.matchAll(/'([^']+)'|"([^"]+)"|`([^`]+)`/g)].map(
    ([, a, b, c]) => a ?? b ?? c ?? '',
  );
  const words = message.split(/[\s'"`]+/).map((word) => word.replace(/^[([{<=]+|[)\]}>,;:.!]+$/g, ''));
  return [...quoted, ...words].filter((path) => path !== '' && path.length <= 1024);
}

/** Whether a missed path is a left-out one or lies in it, or is a folder that consists of it. */
function isWithin(missed: string, leftOut: string): boolean {
  const path = leftOut.replace(/\/$/, '');
  return missed === path || missed.startsWith(`${path}/`) || (missed !== '' && path.startsWith(`${missed}/`));
}

const fileAdvice = ({ why, advice, dataset }: LeftOut, path: string): string =>
  why === 'submodule'
    ? `${path} is a git submodule that was not checked out. To send it: ${advice}`
    : `${path} was left out by .gitignore. To have it there: ${advice}, then mps run --dataset ${dataset ?? 'NAME'}`;

const moduleAdvice = (one: LeftOut, path: string): string =>
  one.why === 'submodule'
    ? fileAdvice(one, path)
    : `${path} was left out by .gitignore. To send it, take it out of .gitignore: git excludes it, too.`;

const wholeAdvice = (command: string): string =>
  `Only this folder of its git repository was sent. To send all of it: ${command}`;
