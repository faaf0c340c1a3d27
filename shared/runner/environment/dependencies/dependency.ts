/** The pip options that dependencies may contain. */
export type PipOption = 'index-url' | 'extra-index-url' | 'find-links' | 'pre';

/** One dependency in its normal form. Paths are relative to the source folder and contain neither `.` nor `..`. */
export type Dependency =
  /**
   * A requirement (PEP 508) or an npm package spec. The installer resolves it. `hashes` are pip's `--hash` options of
   * its files, sorted and separated by blanks.
   */
  | { kind: 'package'; line: number; spec: string; hashes?: string }
  /** A wheel, sdist or npm tarball of the source; `extras` and `marker` are those of a Python requirement. */
  | { kind: 'file'; line: number; path: string; extras: string; marker: string }
  /** A file of further requirement lines (`-r`). */
  | { kind: 'requirements'; line: number; path: string }
  /** A file of constraints (`-c`): versions of packages that another requirement may need. */
  | { kind: 'constraints'; line: number; path: string }
  /**
   * A folder of the source with a Python project (`-e .`); `.` is the source itself. `extras` as in a
   * requirement. `beside` is the folder if the path begins at the file that names it; it has priority if it is a project.
   */
  | { kind: 'folder'; line: number; path: string; extras: string; beside?: string }
  /** Allowed versions of the interpreter (`python>=3.11`). */
  | { kind: 'python'; line: number; versions: string }
  /** A pip option. `value` is a URL; blank for `pre`. */
  | { kind: 'option'; line: number; name: PipOption; value: string }
  | { kind: 'image'; line: number; reference: string };

/** A fault in the text of `dependencies`; `line` counts from 1. */
export interface DependencyFault {
  line: number;
  message: string;
}

export interface ParsedDependencies {
  dependencies: Dependency[];
  faults: DependencyFault[];
}

const segment = /^[A-Za-z0-9_.!~+@=-]+$/;

/**
 * Return the normal form (`a/b.whl`) of a user's path relative to the source folder. Null if it is absolute,
 * leaves the folder, or contains characters that an installer could misread.
 */
export function normalRelativePath(path: string): string | null {
  if (path.length > 400) return null;
  const segments = path.replace(/^(?:\.\/)+/, '').split('/');
  const plain = segments.every((part) => segment.test(part) && part !== '.' && part !== '..');
  return plain && !segments[0]?.startsWith('-') ? segments.join('/') : null;
}

/**
 * Return the path in the source that a file names; null if it leaves the source or is not normal.
 *
 * @param folder of the file in the source; `.` for the source itself
 * @example pathFrom('app', '../lib') // 'lib'
 */
export function pathFrom(folder: string, written: string): string | null {
  const places = folder === '.' ? [] : folder.split('/');
  let path = written.replace(/^(?:\.\/)+/, '');
  for (; /^\.\.(?:\/|$)/.test(path); path = path.slice(3)) if (places.pop() === undefined) return null;
  const below = ['', '.'].includes(path) ? [] : [path];
  return places.length + below.length === 0 ? '.' : normalRelativePath([...places, ...below].join('/'));
}
