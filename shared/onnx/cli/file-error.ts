import { ModelError } from '../model/model-error.ts';

const words: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'there is no such file',
  ENOSPC: 'no space is left there',
  ENOTDIR: 'part of its path is no folder',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
};

/** The code of an error of the file system, as in `ENOENT`; undefined for other errors. */
export function fileErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** An error of the file system as a message of one line; other errors unchanged. */
export function fileError(what: string, error: unknown): unknown {
  const code = fileErrorCode(error);
  return code === undefined ? error : new ModelError(`${what}: ${words[code] ?? code}.`);
}
