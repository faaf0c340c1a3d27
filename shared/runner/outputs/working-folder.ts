import { bytesText } from '../../core/text/bytes-text.ts';
import { artifactPathMaxBytes } from '../../data/experiments/tracking-rules.ts';
import { FileRefusedError } from '../host/growing-file.ts';
import { LeaseLostError } from '../job/job-error.ts';
import { type FindFilesOptions, type FoundFile, findFiles } from './find-files.ts';
import { openFound, Refusals } from './output-folder.ts';
import { passesOver } from './passed-over.ts';
import { ArtifactLimitError } from './upload/artifact-store.ts';
import { FileChangedError, type OpenFile } from './upload/file-bytes.ts';
import { TaskPool } from './upload/task-pool.ts';

/** Folder of the artifacts that were left in the working folder. */
const artifactFolder = 'workdir';

/** Most files that are kept of a working folder. More are data that a program has unpacked. */
const maxKeptFiles = 2_000;

/** A folder with more entries than this is kept whole or not at all. */
const maxChildren = 500;

const bounds = {
  maxFiles: 200_000,
  maxDepth: 64,
  maxPathBytes: artifactPathMaxBytes - `${artifactFolder}/`.length,
};

const atOnce = 6;

export interface WorkingFolderOptions {
  folder: string;
  /** Owner of the files; any owner if this process is not root. */
  user: { uid: number } | undefined;
  /** Store a file as an artifact. @throws ArtifactLimitError, JobError; LeaseLostError */
  log(path: string, file: OpenFile): Promise<void>;
  /** Files and bytes that may still be stored. */
  room(): { files: number; bytes: number };
  say(message: string): void;
}

/** Keeps what a command leaves in its working folder: new and changed files become artifacts below `workdir/`. */
export class WorkingFolder {
  readonly #options: WorkingFolderOptions;
  /** State of each path before the command; blank for what is no regular file. */
  readonly #before = new Map<string, string>();
  #isKnown = false;

  constructor(options: WorkingFolderOptions) {
    this.#options = options;
  }

  /** Note the files that are there, before the command starts. */
  async note(): Promise<void> {
    const refused = (path: string) => void this.#before.set(path, '');
    for await (const { path, written } of this.#walk(refused)) this.#before.set(path, written);
    // A source of more files than a walk reaches cannot be told from what the command adds.
    this.#isKnown = !this.#before.has('');
  }

  /**
   * Store the new and changed files after the command has ended. What is too large or too many is named with its
   * size. Returns the warnings for the run. Never fails for a file.
   * @throws LeaseLostError
   */
  async keep(): Promise<string[]> {
    if (!this.#isKnown) return [];
    const refusals = new Refusals();
    const refused = (path: string, why: string) => {
      if (!this.#before.has(path)) refusals.add(path, why);
    };
    const left = new LeftFolder('');
    for await (const found of this.#changed(refused)) left.add(found.path.split('/'), found.size);
    const { room } = this.#options;
    const { files, bytes } = room();
    const chosen = left.choose({ files: Math.min(files, maxKeptFiles), bytes });
    const unstored = await this.#store(chosen.paths, refusals);
    refusals.report('The working folder', this.#options.say);
    const warnings = leftWarnings([...chosen.others, ...unstored]);
    for (const warning of warnings) this.#options.say(warning);
    return warnings;
  }

  async #store(paths: ReadonlySet<string>, refusals: Refusals): Promise<LeftPath[]> {
    const unstored: LeftPath[] = [];
    if (paths.size === 0) return unstored;
    const ignored = () => undefined;
    const pool = new TaskPool(atOnce);
    try {
      for await (const found of this.#changed(ignored)) {
        if (!paths.has(found.path)) continue;
        const handle = await openFound(found, (path, why) => refusals.add(path, why));
        if (handle === undefined) continue;
        await pool.add(async () => {
          try {
            await this.#options.log(`${artifactFolder}/${found.path}`, { handle });
          } catch (error) {
            if (error instanceof LeaseLostError) throw error;
            if (error instanceof ArtifactLimitError)
              unstored.push({ path: found.path, files: 1, bytes: found.size });
            else if (error instanceof FileChangedError || error instanceof FileRefusedError)
              refusals.add(found.path, error.message);
            else throw error;
          } finally {
            await handle.close();
          }
        });
      }
      await pool.drain();
    } finally {
      await pool.settle();
    }
    return unstored;
  }

  async *#changed(refused: FindFilesOptions['refused']): AsyncGenerator<FoundFile> {
    for await (const found of this.#walk(refused))
      if (this.#before.get(found.path) !== found.written && !isCache(found.path)) yield found;
  }

  #walk(refused: FindFilesOptions['refused']): AsyncGenerator<FoundFile> {
    const { folder, user } = this.#options;
    const options = { ...bounds, refused, passesOver, ...(user !== undefined && { user }) };
    return findFiles(folder, options);
  }
}

const isCache = (path: string): boolean => /(?:\.py[co]|(?:^|\/)\.DS_Store)$/.test(path);

/** A file, or a folder, whose path ends with a slash. */
interface LeftPath {
  path: string;
  files: number;
  bytes: number;
}

/** The files that a command left in a folder. */
class LeftFolder implements LeftPath {
  readonly path: string;
  readonly #children = new Map<string, LeftFolder | LeftPath>();
  files = 0;
  bytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  add([name = '', ...below]: readonly string[], bytes: number): void {
    this.files += 1;
    this.bytes += bytes;
    if (below.length === 0) {
      this.#children.set(name, { path: `${this.path}${name}`, files: 1, bytes });
      return;
    }
    const found = this.#children.get(name);
    const folder = found instanceof LeftFolder ? found : new LeftFolder(`${this.path}${name}/`);
    this.#children.set(name, folder);
    folder.add(below, bytes);
  }

  /** Choose the files that fit, small ones first, and name what does not. */
  choose(room: { files: number; bytes: number }): { paths: Set<string>; others: LeftPath[] } {
    const paths = new Set<string>();
    const others: LeftPath[] = [];
    const left = { ...room };
    const take = (one: LeftFolder | LeftPath): void => {
      if (one instanceof LeftFolder) for (const child of one.#children.values()) take(child);
      else paths.add(one.path);
    };
    const offer = (one: LeftFolder | LeftPath): void => {
      if (one.files <= left.files && one.bytes <= left.bytes) {
        left.files -= one.files;
        left.bytes -= one.bytes;
        take(one);
        return;
      }
      if (!(one instanceof LeftFolder) || (one.path !== '' && one.#children.size > maxChildren)) {
        others.push(one);
        return;
      }
      for (const child of [...one.#children.values()].sort((a, b) => a.bytes - b.bytes)) offer(child);
    };
    offer(this);
    return { paths, others };
  }
}

/** Paths that a warning names. */
const maxNamed = 10;

function leftWarnings(others: readonly LeftPath[]): string[] {
  if (others.length === 0) return [];
  const named = others
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, maxNamed)
    .map(({ path, files, bytes }) =>
      path.endsWith('/') ? `${path} (${files} files, ${bytesText(bytes)})` : `${path} (${bytesText(bytes)})`,
    );
  const more = others.length > maxNamed ? ` and ${others.length - maxNamed} more` : '';
  return [
    `Not kept of the working folder, because they exceed ${maxKeptFiles} files or the room for artifacts: ${named.join(', ')}${more}.`,
  ];
}
