import { ServiceError } from './service-error.ts';

/** Fault of a disk: it is full, or a database on it is damaged. */
export type DiskFault = 'full' | 'damaged';

/** Kernel error codes for a full disk, an exhausted quota, and a file above this process's size limit. */
const fullCodes = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EFBIG']);
/** Primary result codes of SQLite: FULL, CORRUPT, NOTADB. */
const sqliteFull = 13;
const sqliteDamaged = new Set([11, 26]);

/** The embedded engines pass on SQLite's messages. */
const fullWords = /database or disk is full|no space left on device|the disk is full/i;
const damagedWords =
  /database disk image is malformed|file is not a database|not a valid (?:SQLite )?database/i;

/** The disk fault that caused an error; undefined for any other error. */
export function diskFault(error: unknown): DiskFault | undefined {
  if (!(error instanceof Error)) return undefined;
  const errcode = 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
  if (errcode !== undefined && sqliteDamaged.has(errcode)) return 'damaged';
  if (errcode === sqliteFull || ('code' in error && fullCodes.has(error.code))) return 'full';
  if (damagedWords.test(error.message)) return 'damaged';
  return fullWords.test(error.message) ? 'full' : undefined;
}

/** Seconds after which a client may retry, because somebody may have freed space. */
const fullSeconds = 30;

/** The error for a write to a full disk. */
export const diskFullError = (): ServiceError =>
  new ServiceError(
    'unavailable',
    'The disk of this service is full. Delete projects, experiments or models to free space.',
    { retryAfterSeconds: fullSeconds },
  );
