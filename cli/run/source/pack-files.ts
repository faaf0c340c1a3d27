import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { relative } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Header, Pack, ReadEntry } from 'tar';
import { CliError } from '../../cli-error.ts';
import type { DigestedFile } from '../../upload/digest-file.ts';
import { inspectFiles } from './inspect-files.ts';
import type { SourceFile, SourceFiles } from './source-file.ts';

/** A generated file to add to the archive. */
export interface AddedFile {
  path: string;
  content: string;
}

/** What to pack of a folder. */
type PackedFolder = Pick<SourceFiles, 'files' | 'folders'>;

interface Packing {
  signal: AbortSignal;
  added?: readonly AddedFile[] | undefined;
  /** Whether to pack a tar.gz instead of a tar. */
  isCompressed?: boolean;
}

/**
 * Link cache that reports every file with several names as outside of the folder. Otherwise tar would store its
 * second name as a hard link.
 */
class LinkedOutside extends Map<`${number}:${number}`, string> {
  override get(): string {
    return 'outside';
  }
}

function entryOf({ path, content }: AddedFile): ReadEntry {
  const bytes = Buffer.from(content);
  const facts = {
    path: `./${path}`,
    mode: 0o644,
    type: 'File',
    size: bytes.length,
    mtime: new Date(0),
  } as const;
  const entry = new ReadEntry(new Header(facts));
  entry.end(bytes);
  return entry;
}

function folderEntry(path: string): ReadEntry {
  const facts = { path: `./${path}/`, mode: 0o755, type: 'Directory', size: 0, mtime: new Date(0) } as const;
  const entry = new ReadEntry(new Header(facts));
  entry.end();
  return entry;
}

async function pack(
  folder: string,
  { files, folders }: PackedFolder,
  path: string,
  { signal, added = [], isCompressed = true }: Packing,
): Promise<DigestedFile> {
  const hash = createHash('sha256');
  let size = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  const archive = new Pack({
    cwd: folder,
    gzip: isCompressed && { level: 6 },
    portable: true,
    mtime: new Date(0),
    noDirRecurse: true,
    // Jobs accept no links. Store each file by itself, even behind a symbolic link or a hard link.
    follow: true,
    linkCache: new LinkedOutside(),
  });
  for (const file of files) archive.add(`./${file.path}`);
  for (const empty of folders) archive.add(folderEntry(empty));
  for (const file of added) archive.add(entryOf(file));
  archive.end();
  await pipeline(archive, counted, createWriteStream(path, { mode: 0o600 }), { signal });
  return { path, size, sha256: hash.digest('hex') };
}

/** The files were checked when they were listed. */
const unlimited = {
  maxEntries: Number.POSITIVE_INFINITY,
  maxBytes: Number.POSITIVE_INFINITY,
  maxPathBytes: Number.POSITIVE_INFINITY,
  maxDepth: Number.POSITIVE_INFINITY,
};

/** Return the files that have changed. */
async function changedFiles(folder: string, files: readonly SourceFile[]): Promise<string[]> {
  const now = await inspectFiles(folder, { files: files.map(({ path }) => path), folders: [] }, unlimited);
  const found = new Map(now.files.map((file) => [file.path, file]));
  return files
    .filter(({ path, size, changed }) => {
      const one = found.get(path);
      return one === undefined || one.size !== size || one.changed !== changed;
    })
    .map(({ path }) => path);
}

const changedError = (files: readonly string[]): CliError =>
  new CliError(
    `Files changed while they were packed: ${files.slice(0, 5).join(', ')}.\nRun the command again. If a running program writes them, list them in .mpsignore.`,
  );

/**
 * Pack files into an archive at `path`. The same files produce the same bytes, so the service recognizes a known
 * archive by its hash.
 *
 * @throws CliError if a file changed during packing, because the archive would mix two states of the folder
 */
export async function packFiles(
  folder: string,
  { files, folders }: PackedFolder,
  path: string,
  packing: Packing,
): Promise<DigestedFile> {
  const packed = await pack(folder, { files, folders }, path, packing).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' && error.path !== path)
        throw changedError([relative(folder, error.path ?? '')]);
      if (error.code === 'EACCES')
        throw new CliError(`${error.message}\nMake it readable, or list it in .mpsignore.`);
      throw error;
    },
  );
  const changed = await changedFiles(folder, files);
  if (changed.length === 0) return packed;
  throw changedError(changed);
}
