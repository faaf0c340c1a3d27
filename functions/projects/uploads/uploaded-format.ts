import { constants, gunzipSync } from 'node:zlib';
import { hasTarChecksum, tarBlockBytes } from '../../../shared/archive/tar-reader.ts';

/**
 * The format of an archive by its first {@link headBytes}, undefined for everything else: a gzip file is one only
 * where a tar is in it, not a compressed table, say.
 */
export function uploadedFormat(head: Buffer): 'tar.gz' | 'tar' | 'zip' | undefined {
  if (startsWith(head, 0x1f, 0x8b)) return isTar(gunzipStart(head)) ? 'tar.gz' : undefined;
  // "PK" with the signature of a first entry, or of the end record that is all an empty archive has.
  if (startsWith(head, 0x50, 0x4b, 3, 4) || startsWith(head, 0x50, 0x4b, 5, 6)) return 'zip';
  return isTar(head) ? 'tar' : undefined;
}

const startsWith = (bytes: Buffer, ...signature: number[]): boolean =>
  bytes.subarray(0, signature.length).equals(Buffer.from(signature));

const isTar = (bytes: Buffer): boolean => hasTarChecksum(bytes.subarray(0, tarBlockBytes));

/** The unpacked beginning of a gzip file. */
function gunzipStart(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return Buffer.alloc(0);
  }
}

/** First bytes that identify a format: the first header of a tar, also when it is compressed. */
export const headBytes = 4096;
