import { type CondaEnvironment, readConda } from '../../../shared/runner/environment/declarations/conda.ts';
import {
  type PythonManifest,
  readPyproject,
} from '../../../shared/runner/environment/declarations/pyproject.ts';
import { readPythonCondition } from '../../../shared/runner/environment/declarations/python-condition.ts';
import { readScriptBlock } from '../../../shared/runner/environment/declarations/script-block.ts';
import { readSetupCfg, readSetupPy } from '../../../shared/runner/environment/declarations/setup-files.ts';
import type { PythonCondition } from '../../../shared/runner/environment/install/python-version.ts';
import { lockedRequirements } from '../source/list-files.ts';
import type { ChosenEnvironment } from './chosen-environment.ts';
import { lockFiles, readLock } from './lock/read-lock.ts';
import { environmentFileOf } from './mlproject.ts';

/**
 * Choose the environment of a folder with a Python program; undefined if no file lists its requirements. The first of
 * these decides: the block of the program itself (PEP 723), `requirements.txt`, a lock file, `pyproject.toml`, the file
 * that `MLproject` names, conda's file, `setup.cfg`, `setup.py`, and requirements in a sub-folder. Convert a lock file
 * to pinned requirements, because pip does not read the lock files of other tools.
 *
 * @param program path of the Python program that runs; undefined if the command names none
 * @throws CliError or EnvironmentError for a file that cannot be read
 */
export async function pythonEnvironment(
  files: ReadonlySet<string>,
  read: (name: string) => Promise<string>,
  program?: string,
): Promise<ChosenEnvironment | undefined> {
  const manifest = files.has('pyproject.toml') ? readPyproject(await read('pyproject.toml')) : undefined;
  const chosen = await chooseDeclaration(files, read, { manifest, program });
  if (chosen === undefined) return undefined;
  const { lines, python = requiresPython(manifest?.python), notes = [], ...rest } = chosen;
  const readsProject = await installsProject(chosen.lines, read);
  const others = otherDeclarations(files, chosen, readsProject ? undefined : manifest);
  const unread =
    others.length === 0 ? [] : [`Seen and not read, because ${chosen.reason} decides: ${others.join(', ')}.`];
  const wanted = python === undefined ? [] : [`python${python.versions}`];
  const dependencies = [...lines, ...wanted].join('\n') || 'none';
  return { env_type: 'python', dependencies, python, notes: [...notes, ...unread], ...rest };
}

interface Declaration extends Pick<ChosenEnvironment, 'reason' | 'added' | 'notes' | 'python'> {
  /** Requirement lines. */
  lines: readonly string[];
}

const requiresPython = (
  text: string | undefined,
  where = 'requires-python of pyproject.toml',
): PythonCondition | undefined => (text === undefined ? undefined : readPythonCondition(text, where));

async function chooseDeclaration(
  files: ReadonlySet<string>,
  read: (name: string) => Promise<string>,
  { manifest, program }: { manifest: PythonManifest | undefined; program: string | undefined },
): Promise<Declaration | undefined> {
  const block =
    program !== undefined && files.has(program) ? readScriptBlock(program, await read(program)) : undefined;
  if (block !== undefined)
    return {
      lines: block.requirements,
      reason: `block in ${program}`,
      python: requiresPython(block.python, `requires-python of the block in ${program}`),
    };
  if (files.has('requirements.txt')) return { lines: ['-r requirements.txt'], reason: 'requirements.txt' };
  const lock = lockFiles.find((name) => files.has(name));
  if (lock !== undefined) {
    const required = namesOf(manifest?.requirements ?? []);
    const content = readLock(lock, await read(lock), { name: manifest?.name, required });
    if (content === '') return { lines: [], reason: lock };
    const added = { path: lockedRequirements, content };
    return { lines: [`-r ${lockedRequirements}`], reason: lock, added };
  }
  if (manifest?.requirements !== undefined)
    return { lines: manifestLines(manifest), reason: 'pyproject.toml', notes: manifestNotes(manifest) };
  const conda = await condaDeclaration(files, read);
  if (conda !== undefined) return conda;
  for (const [file, readSetup] of [
    ['setup.cfg', readSetupCfg],
    ['setup.py', readSetupPy],
  ] as const) {
    if (!files.has(file)) continue;
    const { requirements, python } = readSetup(await read(file));
    if (requirements !== undefined)
      return {
        lines: requirements,
        reason: file,
        python: requiresPython(python, `python_requires of ${file}`),
      };
  }
  const below = requirementsBelow(files);
  if (below !== undefined || manifest?.python === undefined) return below;
  // Without packages, too, the version of Python decides whether the program runs.
  return { lines: [], reason: 'requires-python of pyproject.toml' };
}

/** Return the requirement lines of a manifest; the project itself if its packages have places of their own. */
function manifestLines({ requirements = [], places }: PythonManifest): string[] {
  const isPlain = places.packages.size + places.indexes.length === 0 && places.defaultIndex === undefined;
  return isPlain ? requirements : ['-e .'];
}

const manifestNotes = ({ unread }: PythonManifest): string[] =>
  unread.length === 0
    ? []
    : [`pyproject.toml: not installed: ${unread.join(', ')}. List what the program needs in dependencies.`];

/** Whether requirements contain the folder's own project, whose declaration is then read. */
async function installsProject(
  lines: readonly string[],
  read: (name: string) => Promise<string>,
): Promise<boolean> {
  const files = lines.flatMap((line) => /^-r (.+)$/.exec(line)?.[1] ?? []);
  const texts = await Promise.all(files.map((file) => read(file).catch(() => '')));
  return [...lines, ...texts].some((text) =>
    /^\s*(?:-e|--editable)[ =]\s*\.\/?(?:\[[^\]]*\])?\s*(?:#.*)?$/m.test(text),
  );
}

/** Name other files that list packages. A file from which the chosen one is made is none of them. */
function otherDeclarations(
  files: ReadonlySet<string>,
  { reason }: Declaration,
  manifest: PythonManifest | undefined,
): string[] {
  const isLocked = lockFiles.includes(reason);
  const rank = isLocked ? lockFiles.indexOf(reason) : -1;
  const candidates = [
    'requirements.txt',
    ...lockFiles.filter((name) => !isLocked || lockFiles.indexOf(name) > rank),
    ...((manifest?.requirements ?? []).length > 0 && !isLocked ? ['pyproject.toml'] : []),
    ...condaFiles,
    'pixi.toml',
    ...(isLocked ? [] : ['Pipfile']),
  ];
  return candidates.filter((name) => files.has(name) && !reason.split(/[ ,]/).includes(name));
}

/** Return the names of unconditional requirements. A requirement with an environment marker need not be locked. */
const namesOf = (requirements: readonly string[]): string[] =>
  requirements.flatMap((line) => (line.includes(';') ? [] : (/^[A-Za-z0-9._-]+/.exec(line.trim()) ?? [])));

/** Files of conda and MLflow, in the order in which they are looked for. */
const condaFiles = ['environment.yml', 'environment.yaml', 'conda.yaml', 'conda.yml', 'python_env.yaml'];

async function condaDeclaration(
  files: ReadonlySet<string>,
  read: (name: string) => Promise<string>,
): Promise<Declaration | undefined> {
  const named = files.has('MLproject') ? environmentFileOf(await read('MLproject')) : undefined;
  const file = [named, ...condaFiles].find((name) => name !== undefined && files.has(name));
  if (file === undefined) return undefined;
  const content = await read(file);
  const { requirements, condaOnly, python } = readConda(file, content);
  const reason = file === named ? `${file}, which MLproject names` : file;
  return { lines: requirements, reason, notes: condaNotes(file, content, { condaOnly, python }) };
}

function condaNotes(
  file: string,
  content: string,
  { condaOnly, python }: Omit<CondaEnvironment, 'requirements'>,
): string[] {
  const lines = content.split('\n');
  const placed = condaOnly.map((one) => `${one} (line ${lines.findIndex((line) => line.includes(one)) + 1})`);
  const notes: string[] = [];
  if (condaOnly.length > 0)
    notes.push(
      `${file}: not installed, because pip may not have them: ${placed.join(', ')}. List what pip has under "pip:".`,
    );
  if (python !== undefined)
    notes.push(
      `${file}: Python ${python} is a wish; "python: '${minorOf(python)}'" in mps.yaml makes it a condition.`,
    );
  return notes;
}

/** Return the version without its patch, which few machines have: `3.8` of `3.8.5`. */
const minorOf = (python: string): string => /^\d+(?:\.\d+)?/.exec(python)?.[0] ?? python;

/** Find requirements in the usual places below the folder. */
function requirementsBelow(files: ReadonlySet<string>): Declaration | undefined {
  const below = [...files].filter((path) => /^(?:requirements\/[^/]+|src\/requirements)\.txt$/.test(path));
  const usual = ['requirements/requirements.txt', 'requirements/base.txt', 'requirements/main.txt'];
  const others = ['requirements/train.txt', 'requirements/prod.txt', 'src/requirements.txt'];
  const chosen =
    [...usual, ...others].find((path) => files.has(path)) ?? (below.length === 1 ? below[0] : undefined);
  return chosen === undefined ? undefined : { lines: [`-r ${chosen}`], reason: chosen };
}

/** Files that declare requirements in ways that this command does not read. */
export function unreadDeclarations(files: ReadonlySet<string>): string[] {
  const names = ['setup.py', 'Pipfile', 'pixi.toml', 'requirements.in', 'Dockerfile'];
  const below = [...files].filter((path) =>
    /(?:^|\/)(?:requirements[\w-]*|.*-requirements)\.txt$/.test(path),
  );
  return [...names.filter((name) => files.has(name)), ...below.slice(0, 3)];
}
