import { ArchiveError, type ArchiveLimits, shown } from './archive-error.ts';
import type { TarHeader } from './tar-header.ts';
import { type TarPart, TarReader } from './tar-reader.ts';
import type { UnpackedTree } from './unpacked-tree.ts';

const refusedTypes: Readonly<Record<string, string>> = {
  '1': 'it is a hard link; links are not allowed',
  '2': 'it is a symbolic link; links are not allowed',
  '3': 'it is a device',
  '4': 'it is a device',
  '6': 'it is a named pipe',
  S: 'it is a sparse file; pack it without',
};

/** Unpack a tar archive in one pass. Only files and folders are allowed. @throws ArchiveError */
export async function unpackTar(
  source: AsyncIterable<Buffer>,
  tree: UnpackedTree,
  limits: ArchiveLimits,
): Promise<void> {
  const parts = tarParts(source, limits);
  try {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      if (next.value.part === 'entry') await unpackEntry(next.value.entry, contentOf(parts), tree);
    }
  } finally {
    await parts.return();
  }
}

/** Reads to the end of the stream, so that a checksum behind it (gzip) is verified, too. */
async function* tarParts(
  source: AsyncIterable<Buffer>,
  { maxBytes }: ArchiveLimits,
): AsyncGenerator<TarPart, void, undefined> {
  const reader = new TarReader(maxBytes);
  for await (const chunk of source) yield* reader.read(chunk);
  reader.finish();
}

async function* contentOf(
  parts: AsyncGenerator<TarPart, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  for (;;) {
    const { value } = await parts.next();
    if (value?.part !== 'content') return;
    yield value.bytes;
  }
}

async function unpackEntry(
  { path, size, mode, type }: TarHeader,
  content: AsyncIterable<Buffer>,
  tree: UnpackedTree,
): Promise<void> {
  if (type === '5' || (type === '0' && path.endsWith('/') && size === 0)) return tree.addFolder(path);
  if (type !== '0') {
    const fault = refusedTypes[type] ?? `it is of a kind that is not supported (${shown(type)})`;
    throw new ArchiveError(`entry ${shown(path)}: ${fault}`);
  }
  await tree.addFile(path, { size, executable: (mode & 0o100) !== 0 }, content);
}
