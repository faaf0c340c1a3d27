import { constants, gunzipSync } from 'node:zlib';
import { hasTarChecksum, tarBlockBytes } from '../../../shared/archive/tar-reader.ts';

/**
 * Detect the format of an archive by its first {@link headBytes}. Return undefined for any other file. A gzip file
 * counts only if it contains a tar: a compressed table does not.
 */
export function uploadedFormat(head: Buffer): 'tar.gz' | 'tar' | 'zip' | undefined {
  if (startsWith(head, 0x1f, 0x8b)) return isTar(gunzipStart(head)) ? 'tar.gz' : undefined;
  // "PK" followed by the signature of a local file header, or of the end record that an empty archive consists of.
  if (startsWith(head, 0x50, 0x4b, 3, 4) || startsWith(head, 0x50, 0x4b, 5, 6)) return 'zip';
  return isTar(head) ? 'tar' : undefined;
}

const startsWith = (bytes: Buffer, ...signature: number[]): boolean =>
  bytes.subarray(0, signature.length).equals(Buffer.from(signature));

const isTar = (bytes: Buffer): boolean => hasTarChecksum(bytes.subarray(0, tarBlockBytes));

/** Decompress the beginning of a gzip file. */
function gunzipStart(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Number of first bytes that identify a format. They contain the first header of a tar, also if it is compressed.
 */
export const headBytes = 4096;
