import { constants, linkSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { chmod, copyFile, open, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../host/has-code.ts';
import { removeTree } from '../remove-tree.ts';

/** A virtual environment that wheels are linked into. */
export interface LinkTarget {
  folder: string;
  /** Its folder of packages, relative to `folder`: `lib/python3.11/site-packages`. */
  site: string;
  /** Whether files may be hard links, because no program of a job can change them. Otherwise they are copies. */
  canLink: boolean;
  /** Receives device and inode of each linked file. */
  linked: Set<string>;
}

/**
 * Install an unpacked wheel into a virtual environment, by the rules of the binary distribution format: modules, the
 * folders of `<name>.data`, and programs for its entry points. A file that another wheel has installed stays.
 */
export async function linkWheel(tree: string, target: LinkTarget): Promise<void> {
  for (const entry of await readdir(tree, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name.endsWith('.data')) await linkData(join(tree, entry.name), target);
    else await linkEntry(join(tree, entry.name), join(target.site, entry.name), target);
    if (entry.name.endsWith('.dist-info')) await writePrograms(join(tree, entry.name), target);
  }
}

/**
 * Remove what the virtual environment brought of a package, such as an older setuptools, so that its wheel fits in.
 *
 * @param name its normal name
 */
export async function removePackage(name: string, { folder, site }: LinkTarget): Promise<void> {
  const packages = join(folder, site);
  const names = await readdir(packages);
  const facts = names.find((one) => one.startsWith(`${name}-`) && one.endsWith('.dist-info'));
  if (facts === undefined) return;
  const record = await readFile(join(packages, facts, 'RECORD'), 'utf8');
  const listed = new Set(record.split('\n').map((line) => line.replace(/^"/, '').split(/[/,"]/, 1)[0]));
  for (const one of names) if (one === facts || listed.has(one)) await removeTree(join(packages, one));
}

/** Link only what tells that a package is installed. Returns the linked folder. */
export async function linkFacts(tree: string, target: LinkTarget): Promise<string> {
  const name = (await readdir(tree)).find((one) => one.endsWith('.dist-info'));
  if (name === undefined) throw new TypeError(`${tree} has no .dist-info`);
  await linkEntry(join(tree, name), join(target.site, name), target);
  return join(target.folder, target.site, name);
}

async function linkData(data: string, target: LinkTarget): Promise<void> {
  const project = data.slice(data.lastIndexOf('/') + 1).split('-', 1)[0] ?? '';
  const [version = ''] = /python[\d.]+/.exec(target.site) ?? [];
  for (const scheme of await readdir(data)) {
    const from = join(data, scheme);
    if (scheme === 'scripts') await linkScripts(from, target);
    else if (scheme === 'purelib' || scheme === 'platlib') await linkEntry(from, target.site, target);
    else if (scheme === 'data') await linkEntry(from, '.', target);
    else if (scheme === 'headers') {
      await linkEntry(from, join('include', 'site', version, project), target);
    } else throw new TypeError(`${data} has an unknown folder ${scheme}`);
  }
}

/**
 * Link a file, or a folder with what it contains, to a path of the environment. Only copies are asynchronous: a promise
 * for each of 20,000 links takes several times longer than the links.
 */
async function linkEntry(from: string, to: string, target: LinkTarget): Promise<void> {
  const facts = lstatSync(from);
  if (facts.isDirectory()) {
    makeFolders(target.folder, to);
    for (const name of readdirSync(from)) await linkEntry(join(from, name), join(to, name), target);
    return;
  }
  const made = join(target.folder, to);
  try {
    if (target.canLink) linkSync(from, made);
    else {
      await copyFile(from, made, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      await utimes(made, facts.atime, facts.mtime);
    }
  } catch (error) {
    if (!isTaken(error)) throw error;
    return;
  }
  if (target.canLink) target.linked.add(`${facts.dev}:${facts.ino}`);
}

/**
 * Create a folder and its parents below a root. A program of the environment may have put a link in the place of one of
 * them: it is refused.
 */
function makeFolders(root: string, path: string): void {
  let folder = root;
  for (const name of path.split('/').filter((part) => part !== '' && part !== '.')) {
    folder = join(folder, name);
    try {
      mkdirSync(folder, { mode: 0o755 });
    } catch (error) {
      if (!isTaken(error) || !lstatSync(folder).isDirectory()) throw error;
    }
  }
}

const isTaken = (error: unknown): boolean => hasCode(error, 'EEXIST');

/** Scripts begin with `#!python` for the interpreter of the environment. Others are programs. */
async function linkScripts(from: string, target: LinkTarget): Promise<void> {
  makeFolders(target.folder, 'bin');
  for (const name of await readdir(from)) {
    const path = join(from, name);
    const [, rest] =
      /^#!pythonw?[^\n]*\n(.*)$/s.exec((await startOf(path)) ? await readFile(path, 'latin1') : '') ?? [];
    if (rest === undefined) await linkEntry(path, join('bin', name), target);
    else await writeProgram(name, rest, target);
  }
}

/** Whether a file begins like a script of Python. Programs may have hundreds of megabytes. */
async function startOf(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(8), position: 0 });
    return buffer.toString('latin1', 0, bytesRead) === '#!python';
  } finally {
    await file.close();
  }
}

async function writePrograms(facts: string, target: LinkTarget): Promise<void> {
  const text = await readFile(join(facts, 'entry_points.txt'), 'utf8').catch(() => '');
  const programs = entryPoints(text);
  if (programs.length > 0) makeFolders(target.folder, 'bin');
  for (const { name, module, attribute } of programs) {
    const [first = ''] = attribute.split('.', 1);
    const body = [
      'import sys',
      `from ${module} import ${first}`,
      'if __name__ == "__main__":',
      '    sys.argv[0] = sys.argv[0].removesuffix(".exe")',
      `    sys.exit(${attribute}())`,
      '',
    ];
    await writeProgram(name, body.join('\n'), target);
  }
}

/** Return the programs of an `entry_points.txt`: `name = module:attribute [extras]` in its sections of scripts. */
export function entryPoints(text: string): { name: string; module: string; attribute: string }[] {
  const found: { name: string; module: string; attribute: string }[] = [];
  let section = '';
  for (const line of text.split(/\r?\n/)) {
    section = /^\s*\[\s*([^\]]+?)\s*\]\s*$/.exec(line)?.[1] ?? section;
    if (section !== 'console_scripts' && section !== 'gui_scripts') continue;
    const [, name, module, attribute] =
      /^\s*([\w.-]+)\s*=\s*([\p{L}\w.]+)\s*:\s*([\p{L}\w.]+)\s*(?:\[.*\])?\s*$/u.exec(line) ?? [];
    if (name === undefined || module === undefined || attribute === undefined) continue;
    if (name !== '.' && name !== '..') found.push({ name, module, attribute });
  }
  return found;
}

async function writeProgram(name: string, body: string, { folder }: LinkTarget): Promise<void> {
  const path = join(folder, 'bin', name);
  try {
    await writeFile(path, `${interpreterLine(join(folder, 'bin', 'python'))}${body}`, {
      flag: 'wx',
      encoding: 'latin1',
    });
    await chmod(path, 0o755);
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
}

/** Kernels read 127 characters of a `#!` line, and no spaces in its path. A shell can start the interpreter instead. */
const interpreterLine = (python: string): string =>
  python.length <= 125 && !/\s/.test(python)
    ? `#!${python}\n`
    : `#!/bin/sh\n'''exec' "${python.replaceAll(/["$`\\]/g, String.raw`\$&`)}" "$0" "$@"\n' '''\n`;
