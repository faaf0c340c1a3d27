import { crc32, createGunzip } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { ArchiveError, type ArchiveLimits, damaged } from './archive-error.ts';
import { decodeName, entryPath } from './entry-path.ts';
import { hasTarChecksum, TarReader, tarBlockBytes } from './tar-reader.ts';

export interface ArchivedFiles {
  /** Fingerprints of the files' contents by path: sizes and CRC-32, as zip archives list them. */
  files: ReadonlyMap<string, string>;
  /** Unpacked bytes read. */
  bytes: number;
}

/**
 * List the files of an in-memory archive. Tar.gz, tar and zip are recognized by content.
 * @throws ArchiveError for an invalid archive, or beyond a limit
 */
export async function archivedFiles(bytes: Buffer, limits: ArchiveLimits): Promise<ArchivedFiles> {
  const list = new FileList(limits);
  try {
    if (bytes.subarray(0, 2).equals(Buffer.of(0x1f, 0x8b))) {
      const read = readTarFiles(list, limits);
      const unpacked = createGunzip();
      unpacked.end(bytes);
      for await (const chunk of unpacked) read(chunk);
    } else if (bytes.subarray(0, 2).toString('latin1') === 'PK') await readZipFiles(bytes, list);
    else if (hasTarChecksum(bytes.subarray(0, tarBlockBytes))) readTarFiles(list, limits)(bytes);
    else throw new ArchiveError('the file is neither a tar.gz, a tar nor a zip archive');
  } catch (cause) {
    throw damaged(cause);
  }
  return { files: list.files, bytes: list.bytes };
}

class FileList {
  readonly files = new Map<string, string>();
  readonly #limits: ArchiveLimits;
  bytes = 0;

  constructor(limits: ArchiveLimits) {
    this.#limits = limits;
  }

  count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > this.#limits.maxBytes)
      throw new ArchiveError(`the archive unpacks to more than ${this.#limits.maxBytes} bytes`);
  }

  add(path: string, size: number, checksum: number): void {
    this.files.set(entryPath(path, this.#limits).join('/'), `${size} ${checksum}`);
    if (this.files.size > this.#limits.maxEntries)
      throw new ArchiveError(`the archive contains more than ${this.#limits.maxEntries} files`);
  }
}

function readTarFiles(list: FileList, limits: ArchiveLimits) {
  const reader = new TarReader(limits.maxBytes);
  let file: { path: string; size: number; checksum: number } | undefined;
  return (chunk: Buffer): void => {
    list.count(chunk.length);
    for (const one of reader.read(chunk)) {
      if (one.part === 'entry') {
        const { path, size, type } = one.entry;
        file = type === '0' && !path.endsWith('/') ? { path, size, checksum: 0 } : undefined;
      } else if (file === undefined) continue;
      else if (one.part === 'content') file.checksum = crc32(one.bytes, file.checksum);
      else list.add(file.path, file.size, file.checksum);
    }
  };
}

async function readZipFiles(bytes: Buffer, list: FileList): Promise<void> {
  const zip = await fromBufferPromise(bytes, { decodeStrings: false });
  for await (const entry of zip.eachEntry()) {
    const path = decodeName(entry.fileNameRaw);
    if (!path.endsWith('/')) list.add(path, entry.uncompressedSize, entry.crc32);
  }
}
