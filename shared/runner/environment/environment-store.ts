/** Where packed environments are kept for one project; implemented on the records table and the object store. */
export interface EnvironmentStore {
  /** The record of a finished build under this key, or null. */
  find(key: string): Promise<{ lockHash: string; buildSeconds: number } | null>;
  /** Takes a lease that expires by itself: at most one builder per key. The holder's name gives it back. */
  claimBuild(key: string): Promise<{ claimed: true; holder: string } | { claimed: false }>;
  /** Writes the pack to `file`, which does not exist yet. */
  download(key: string, file: string): Promise<void>;
  /** Uploads the pack, then records it, so that `find` never promises a pack that is not there. */
  save(key: string, pack: EnvironmentPack): Promise<void>;
  /** Gives the lease back, built or not. */
  releaseBuild(key: string, holder: string): Promise<void>;
}

export interface EnvironmentPack {
  file: string;
  /** The installed packages, one sorted line each. */
  lock: string;
  /** SHA-256 (hex) of `lock`. */
  lockHash: string;
  buildSeconds: number;
}
