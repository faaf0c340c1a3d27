import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DiskRoom } from '../../archive/disk-room.ts';
import type { ObjectWriter } from '../../aws/objects.ts';
import { claimBuild, findPack, packObject, putPack, releaseBuild } from '../../data/projects/environment.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/write-label.ts';
import { downloadObject } from '../job/download-object.ts';
import { longPatience, retryFor } from '../job/retry-for.ts';
import { EnvironmentError } from './environment-error.ts';

export interface EnvironmentPack {
  /** Undefined if only the list of packages is stored. */
  file: string | undefined;
  /** The installed packages, one sorted line each. */
  lock: string;
  /** SHA-256 (hex) of `lock`. */
  lockHash: string;
  buildSeconds: number;
}

/** Store of the packed environments of one project, on the records table and the object store. */
export interface EnvironmentStore {
  /** Whether other hosts fetch packs. On the only host, the list of packages is stored without one. */
  readonly keepsPacks: boolean;
  /** Return the record of a finished build under this key, or null. */
  find(
    key: string,
  ): Promise<{ lockHash: string; buildSeconds: number; lock: string; hasPack: boolean } | null>;
  /** Take an expiring lease, so that each key has at most one builder. The holder's name releases it. */
  claimBuild(key: string): Promise<{ claimed: true; holder: string } | { claimed: false }>;
  /** Write the pack to `file`, which must not exist yet. */
  download(key: string, file: string): Promise<void>;
  /** Upload the pack, then record it. `find` therefore never returns a missing pack. */
  save(key: string, pack: EnvironmentPack): Promise<void>;
  /** Release the lease, whether or not the build succeeded. */
  releaseBuild(key: string, holder: string): Promise<void>;
}

/** Seconds without a renewal after which a builder counts as dead, and seconds between renewals. */
const claimSeconds = 120;

const renewSeconds = 30;

/** The packed environments of a project, on the records table and the bucket. `holder` names this container. */
export function storedEnvironments(
  records: TableWriter<'records'>,
  objects: ObjectWriter,
  project_id: string,
  holder: string,
  now: () => Date,
  stop?: AbortSignal,
  keepsPacks = true,
): EnvironmentStore {
  const renewals = new Map<string, NodeJS.Timeout>();
  const claim = (key: string): Promise<void> => {
    const at = now();
    return claimBuild(records, project_id, key, holder, at, new Date(at.getTime() + claimSeconds * 1000));
  };

  return {
    keepsPacks,

    async find(key) {
      const found = await retryFor(longPatience, () => findPack(records, project_id, key));
      if (found === undefined) return null;
      const { lock_hash: lockHash, build_seconds: buildSeconds, lock, bytes } = found;
      return { lockHash, buildSeconds, lock, hasPack: bytes > 0 };
    },

    async claimBuild(key) {
      if (!(await tryWrite(claim(key)))) return { claimed: false };
      // The next renewal makes up for a failed one. If the claim is lost, the environment is only built twice.
      const renewal = setInterval(() => void claim(key).catch(() => undefined), renewSeconds * 1000);
      renewals.set(key, renewal.unref());
      return { claimed: true, holder };
    },

    async download(key, file) {
      const opened = await open(file, 'wx', 0o600);
      try {
        const what = 'packed environment';
        const room = new DiskRoom(dirname(file));
        const found = await downloadObject(objects, packObject(project_id, key), opened, {
          what,
          room,
          stop,
        });
        // A missing pack is rebuilt, like one that cannot be used.
        if (found === undefined)
          throw new EnvironmentError('pack-refused', 'The packed environment is no longer stored.');
      } finally {
        await opened.close();
      }
    },

    async save(key, { file, lock, lockHash, buildSeconds }) {
      const object = packObject(project_id, key);
      const bytes = file === undefined ? 0 : (await stat(file)).size;
      if (file !== undefined) await objects.putFile(object, file, 'application/zstd');
      const value = {
        request_key: key,
        lock_hash: lockHash,
        lock,
        build_seconds: buildSeconds,
        bytes,
        created_at: now().toISOString(),
      };
      try {
        await putPack(records, project_id, value, holder);
      } catch (error) {
        // No record names the object, unless another builder recorded it or only the reply was lost.
        const isNamed = (await findPack(records, project_id, key)) !== undefined;
        if (file !== undefined && !isNamed) await objects.delete([object]);
        throw error;
      }
    },

    async releaseBuild(key, claimedBy) {
      clearInterval(renewals.get(key));
      await tryWrite(releaseBuild(records, project_id, key, claimedBy));
    },
  };
}
