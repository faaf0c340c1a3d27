import { ModelError } from '../model/model-error.ts';

const words: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'there is no such file',
  ENOSPC: 'the disk has no space left',
  ENOTDIR: 'part of its path is not a folder',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
};

/** Return the code of a file system error, for example `ENOENT`. Undefined for other errors. */
export function fileErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Turn a file system error into a `ModelError` with a one-line message. Return other errors unchanged. */
export function fileError(what: string, error: unknown): unknown {
  const code = fileErrorCode(error);
  return code === undefined ? error : new ModelError(`${what}: ${words[code] ?? code}.`);
}
