import { createHash } from 'node:crypto';
import { chmod, constants, type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../../../host/has-code.ts';
import { isProjectFolder, moduleFolder, readProjectFolder } from '../declarations/project-folder.ts';
import { readWorkspace } from '../declarations/read-workspace.ts';
import { EnvironmentError } from '../environment-error.ts';
import type { PlacedRequirement } from '../install/build-fault.ts';
import type { PythonCondition } from '../install/python-version.ts';
import { contradictions, type StatedRequirement } from './contradictions.ts';
import type { Dependency, PipOption } from './dependency.ts';
import { type EnvironmentSpec, packageIndexFaults, parseDependencies } from './parse-dependencies.ts';
import { normalName, parseRequirements } from './python-requirements.ts';

/** A dependency that does not depend on the source folder: `-r` files are expanded and local packages hashed. */
export type ResolvedDependency =
  | { kind: 'package' | 'constraint'; spec: string; hashes?: string }
  | { kind: 'option'; name: PipOption; value: string }
  | { kind: 'file'; path: string; sha256: string; extras: string; marker: string };

export interface ResolvedEnvironment {
  /** What is installed. */
  dependencies: ResolvedDependency[];
  /** The packages and files among them, with the lines that require them. */
  required: PlacedRequirement[];
  /** Conditions on the version of the interpreter, all of which must hold. */
  interpreter: PythonCondition[];
  /** Folders of the source whose modules a program can import, `.` for the source itself. */
  folders: string[];
}

const maxDependencies = 2000;

const largestPackageFile = 2 * 1024 ** 3;

const deepestInclude = 8;

const maxRequirementFiles = 64;

const largestRequirementFile = 256 * 1024;

/**
 * Parse a specification and its referenced source files by the same rules. As in pip, `-r` paths are relative to
 * the file that names them, and paths of packages to the source folder.
 *
 * @param packageIndexes hosts that may be named; `any` where the deployment checks them later
 * @throws EnvironmentError `bad-dependencies` naming every error of the first faulty text
 */
export async function resolveDependencies(
  spec: EnvironmentSpec,
  sourceFolder: string,
  packageIndexes: readonly string[] | 'any',
): Promise<ResolvedEnvironment> {
  const resolved = new Map<string, ResolvedDependency>();
  const interpreter = new Map<string, PythonCondition>();
  const folders = new Set<string>();
  const stated: StatedRequirement[] = [];
  const required: PlacedRequirement[] = [];
  const seen = new Set<string>();

  const limit = (versions: string, where: string): void => {
    if (!interpreter.has(versions)) interpreter.set(versions, { versions, where });
  };

  const add = async (
    dependencies: readonly Dependency[],
    { file, depth }: { file: string; depth: number },
  ): Promise<void> => {
    for (const dependency of dependencies) {
      if (resolved.size >= maxDependencies) throw refused(`more than ${maxDependencies} dependencies`);
      if (dependency.kind === 'requirements') await include(dependency.path, depth + 1);
      else if (dependency.kind === 'constraints') await constrain(dependency.path);
      else if (dependency.kind === 'python') limit(dependency.versions, `${file}: line ${dependency.line}`);
      else if (dependency.kind === 'folder')
        await addFolder(await folderOf(dependency), dependency.extras, depth + 1);
      else if (dependency.kind === 'file') {
        const { path, extras, marker } = dependency;
        const sha256 = await hashSourceFile(sourceFolder, path, largestPackageFile);
        required.push({ name: distributionName(basename(path)), where: `${file}: line ${dependency.line}` });
        resolved.set(`${path}${extras};${marker}`, { kind: 'file', path, sha256, extras, marker });
      } else if (dependency.kind === 'package') {
        const { line, ...rest } = dependency;
        const where = `${file}: line ${line}`;
        stated.push({ spec: rest.spec, where });
        required.push({ name: /^[a-z0-9-]*/.exec(rest.spec)?.[0] ?? '', where });
        resolved.set(`${rest.spec} ${rest.hashes ?? ''}`, rest);
      } else if (dependency.kind === 'option') {
        const { name, value } = dependency;
        resolved.set(`--${name} ${value}`, { kind: 'option', name, value });
      }
    }
  };

  const hostFaults = (dependencies: readonly Dependency[]) =>
    packageIndexes === 'any' ? [] : packageIndexFaults(dependencies, packageIndexes);

  const isNew = (path: string, depth: number): boolean => {
    if (seen.has(path)) return false;
    seen.add(path);
    if (depth > deepestInclude) throw refused(`${path}: -r files are nested deeper than ${deepestInclude}`);
    if (seen.size > maxRequirementFiles) throw refused(`more than ${maxRequirementFiles} -r files`);
    return true;
  };

  const folderOf = async ({ path, beside }: { path: string; beside?: string }): Promise<string> =>
    beside !== undefined && (await isProjectFolder(join(sourceFolder, beside))) ? beside : path;

  const parsed = (text: string, path: string): Dependency[] => {
    const { dependencies, faults } = parseRequirements(text, dirname(path));
    refuseFaults([...faults, ...hostFaults(dependencies)], path);
    return dependencies;
  };

  const include = async (path: string, depth: number): Promise<void> => {
    if (!isNew(path, depth)) return;
    const text = await readSourceText(sourceFolder, path, largestRequirementFile);
    await add(parsed(text, path), { file: path, depth });
  };

  const constrain = async (path: string): Promise<void> => {
    if (!isNew(`-c ${path}`, 0)) return;
    for (const one of parsed(await readSourceText(sourceFolder, path, largestRequirementFile), path)) {
      if (one.kind !== 'package' || /^[^;]*\[/.test(one.spec))
        throw refused(`${path}: line ${one.line}: a constraint is a package with a version, without extras`);
      const { line, ...rest } = one;
      stated.push({ spec: rest.spec, where: `${path}: line ${line}` });
      resolved.set(`-c ${rest.spec} ${rest.hashes ?? ''}`, { ...rest, kind: 'constraint' });
    }
  };

  const addFolder = async (path: string, extras: string, depth: number): Promise<void> => {
    if (!isNew(`-e ${path}${extras}`, depth)) return;
    const read = (name: string) => readProjectText(sourceFolder, join(path, name));
    const readSource = (name: string) => readProjectText(sourceFolder, name);
    const workspace = () => readWorkspace(sourceFolder, path, readSource);
    const project = await readProjectFolder(path, extras, read, workspace);
    folders.add(await moduleFolder(sourceFolder, path));
    if (project.python !== undefined) limit(project.python.versions, project.python.where);
    await add(parsed(project.requirements.join('\n'), project.file), {
      file: project.file,
      depth,
    });
  };

  const { dependencies, faults } = parseDependencies(spec);
  refuseFaults([...faults, ...hostFaults(dependencies)], 'dependencies');
  await add(dependencies, { file: 'dependencies', depth: 0 });
  const takesPython = spec.env_type === 'python' || spec.env_type === 'system';
  if (takesPython && (await isProjectFolder(sourceFolder)))
    folders.add(await moduleFolder(sourceFolder, '.'));
  const unmet = contradictions(stated);
  if (unmet.length > 0) throw refused(unmet.join('; '));
  const all = [...resolved.values()];
  const indexes = all.filter((one) => one.kind === 'option' && one.name === 'index-url');
  if (indexes.length > 1) throw refused('more than one --index-url; further ones are --extra-index-url');
  return {
    dependencies: all,
    required,
    interpreter: [...interpreter.values()],
    folders: [...folders].sort(),
  };
}

/** The package of a file: `my_tool-1.0.tar.gz` is `my-tool`. */
const distributionName = (filename: string): string => normalName(filename.split(/-\d/, 1)[0] ?? filename);

function refused(message: string): EnvironmentError {
  return new EnvironmentError('bad-dependencies', message);
}

/**
 * Return the SHA-256 (hex) of a source file. With `to`, also copy the file in the same pass, so the installed
 * bytes are exactly the hashed ones.
 */
async function hashSourceFile(folder: string, path: string, maxBytes: number, to?: string): Promise<string> {
  const file = await openSourceFile(folder, path, maxBytes);
  const copy = to === undefined ? undefined : await open(to, 'wx');
  try {
    // Make the copy readable for the builder, regardless of the service's umask.
    await copy?.chmod(0o644);
    const hash = createHash('sha256');
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 })) {
      hash.update(chunk);
      await copy?.writeFile(chunk);
    }
    return hash.digest('hex');
  } finally {
    await copy?.close();
    await file.close();
  }
}

/**
 * Open a file inside the source folder for reading. No component of `path` (relative, normal form) may be a link
 * and the file must be regular, so a source archive cannot make the service read its own files. O_NONBLOCK avoids
 * blocking forever on a named pipe.
 */
async function openSourceFile(folder: string, path: string, maxBytes: number): Promise<FileHandle> {
  const refuse = (why: string, cause?: unknown) =>
    new EnvironmentError('bad-dependencies', `${path}: ${why}`, cause);
  const root = await realpath(folder);
  const full = join(root, path);
  let file: FileHandle | undefined;
  try {
    if ((await realpath(dirname(full))) !== dirname(full)) throw refuse('is behind a link');
    file = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const facts = await file.stat();
    if (!facts.isFile()) throw refuse('is not a regular file');
    if (facts.size > maxBytes) throw refuse(`has more than ${maxBytes} bytes`);
    return file;
  } catch (error) {
    await file?.close();
    if (error instanceof EnvironmentError) throw error;
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) throw refuse('is not in the source', error);
    if (hasCode(error, 'ELOOP')) throw refuse('is a link', error);
    throw error;
  }
}

/** Read a declaration of a project as text; undefined if there is no such file. */
async function readProjectText(folder: string, path: string): Promise<string | undefined> {
  const facts = await lstat(join(folder, path)).catch(() => undefined);
  return facts?.isFile() === true ? readSourceText(folder, path, largestRequirementFile) : undefined;
}

/** Read a small source file as text (UTF-8, at most `maxBytes` bytes). */
async function readSourceText(folder: string, path: string, maxBytes: number): Promise<string> {
  const file = await openSourceFile(folder, path, maxBytes);
  try {
    const bytes = await file.readFile();
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new EnvironmentError('bad-dependencies', `${path}: is not UTF-8 text`, error);
  } finally {
    await file.close();
  }
}

function refuseFaults(faults: readonly { line: number; message: string }[], where: string): void {
  if (faults.length === 0) return;
  const first = faults.slice(0, 5).map((fault) => `line ${fault.line}: ${fault.message}`);
  const more = faults.length > 5 ? `; and ${faults.length - 5} more` : '';
  throw refused(`${where}: ${first.join('; ')}${more}`);
}

/**
 * Copy the local packages into `folder` and return their relative paths. Each gets a numbered folder, because a
 * package's file name must stay unchanged.
 * @throws EnvironmentError if a file differs from the one hashed into the request key
 */
export async function copyPackages(
  dependencies: readonly ResolvedDependency[],
  sourceFolder: string,
  folder: string,
): Promise<Map<ResolvedDependency, string>> {
  const copies = new Map<ResolvedDependency, string>();
  for (const dependency of dependencies) {
    if (dependency.kind !== 'file') continue;
    const own = join(folder, String(copies.size));
    const relative = `${copies.size}/${basename(dependency.path)}`;
    await mkdir(own);
    await chmod(own, 0o755);
    const sha256 = await hashSourceFile(
      sourceFolder,
      dependency.path,
      largestPackageFile,
      join(folder, relative),
    );
    if (sha256 !== dependency.sha256)
      throw refused(`${dependency.path}: changed during the preparation of the environment`);
    copies.set(dependency, relative);
  }
  return copies;
}
