/** The options of pip that dependencies may hold. */
export type PipOption = 'index-url' | 'extra-index-url' | 'find-links' | 'pre';

/** One dependency in its normal form. Paths are relative to the source folder and have neither `.` nor `..` in them. */
export type Dependency =
  /** A requirement (PEP 508) or an npm package spec, to be resolved by the installer. */
  | { kind: 'package'; line: number; spec: string }
  /** A wheel, sdist or npm tarball of the source; `extras` and `marker` are those of a Python requirement. */
  | { kind: 'file'; line: number; path: string; extras: string; marker: string }
  /** A file of further requirement lines (`-r`). */
  | { kind: 'requirements'; line: number; path: string }
  /** An option of pip; `value` is a URL, and blank for `pre`. */
  | { kind: 'option'; line: number; name: PipOption; value: string }
  | { kind: 'image'; line: number; reference: string };

/** One thing wrong with the text of `dependencies`; `line` counts from 1. */
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
 * The normal form (`a/b.whl`) of a path that a person gave relative to the source folder, or null when it is absolute,
 * leaves the folder, or holds characters that an installer could read as something other than a file name.
 */
export function normalRelativePath(path: string): string | null {
  if (path.length > 400) return null;
  const segments = path.replace(/^(?:\.\/)+/, '').split('/');
  const plain = segments.every((part) => segment.test(part) && part !== '.' && part !== '..');
  return plain && !segments[0]?.startsWith('-') ? segments.join('/') : null;
}
