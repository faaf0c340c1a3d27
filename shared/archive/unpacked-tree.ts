import { constants } from 'node:fs';
import { chmod, chown, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../host/has-code.ts';
import { ArchiveError, type ArchiveLimits, shown } from './archive-error.ts';
import { DiskRoom } from './disk-room.ts';
import { entryPath } from './entry-path.ts';

/**
 * Write the files and folders of one archive below a folder that no other user can enter. The file system itself
 * detects repeated entries, so memory does not grow with the archive.
 */
export class UnpackedTree {
  entries = 0;
  bytes = 0;
  readonly #root: string;
  readonly #limits: ArchiveLimits;
  readonly #owner: Owner | undefined;
  readonly #room: DiskRoom;
  #latestFolder = '';

  constructor(root: string, limits: ArchiveLimits, owner?: Owner, room = new DiskRoom(root)) {
    this.#root = root;
    this.#limits = limits;
    this.#owner = owner;
    this.#room = room;
  }

  /** Create a folder and its parents. Repeating it changes nothing. */
  async addFolder(path: string): Promise<void> {
    await this.#makeFolders(entryPath(path, this.#limits), path);
  }

  /**
   * Write a file while it streams in. `size` comes from the archive and only allows an early refusal; `content` is
   * authoritative.
   * @throws ArchiveError beyond a limit or if the path is taken; DiskRoomError
   */
  async addFile(
    path: string,
    stated: { size: number; executable: boolean },
    content: AsyncIterable<Buffer>,
  ): Promise<void> {
    const segments = entryPath(path, this.#limits);
    const name = segments.at(-1);
    if (name === undefined || path.endsWith('/') || path.endsWith('/.')) {
      throw new ArchiveError(`entry ${shown(path)}: a file cannot have the name of a folder`);
    }
    this.#checkBytes(stated.size, path);
    const entry = `entry ${shown(path)}`;
    this.#room.require(stated.size, entry);
    await this.#makeFolders(segments.slice(0, -1), path);
    this.#countEntry(path);
    const target = join(this.#root, ...segments);
    const file = await open(target, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600).catch(
      async (error: unknown) => {
        if (!isTaken(error)) throw error;
        const isSame = (await readdir(dirname(target))).includes(name);
        throw new ArchiveError(
          isSame
            ? `entry ${shown(path)}: its path is in the archive twice`
            : `entry ${shown(path)}: it differs from another one only in upper and lower case, which this file system does not tell apart`,
        );
      },
    );
    try {
      for await (const chunk of content) {
        this.#checkBytes(chunk.length, path);
        this.bytes += chunk.length;
        this.#room.require(chunk.length, entry);
        this.#room.use(chunk.length);
        await file.writeFile(chunk);
      }
      await file.chmod(stated.executable ? 0o755 : 0o644);
      if (this.#owner !== undefined) await file.chown(this.#owner.uid, this.#owner.gid);
    } finally {
      await file.close();
    }
  }

  async #makeFolders(segments: readonly string[], path: string): Promise<void> {
    const folder = segments.join('/');
    if (folder === this.#latestFolder) return;
    let place = this.#root;
    for (const segment of segments) {
      place = join(place, segment);
      await this.#makeFolder(place, path);
    }
    this.#latestFolder = folder;
  }

  async #makeFolder(place: string, path: string): Promise<void> {
    try {
      await mkdir(place, { mode: 0o755 });
    } catch (error) {
      if (!isTaken(error)) throw error;
      if ((await lstat(place)).isDirectory()) return;
      throw new ArchiveError(`entry ${shown(path)}: a folder of its path is a file in the archive`);
    }
    this.#countEntry(path);
    await chmod(place, 0o755); // mkdir applies the umask of this process, which may be anything
    if (this.#owner !== undefined) await chown(place, this.#owner.uid, this.#owner.gid);
  }

  #countEntry(path: string): void {
    this.entries += 1;
    if (this.entries > this.#limits.maxEntries) {
      throw new ArchiveError(
        `entry ${shown(path)}: the archive contains more than ${this.#limits.maxEntries} files and folders`,
      );
    }
  }

  #checkBytes(more: number, path: string): void {
    if (this.bytes + more > this.#limits.maxBytes) {
      throw new ArchiveError(
        `entry ${shown(path)}: the archive unpacks to more than ${this.#limits.maxBytes} bytes`,
      );
    }
  }
}

export interface Owner {
  uid: number;
  gid: number;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

const isTaken = (error: unknown): boolean => hasCode(error, 'EEXIST');
