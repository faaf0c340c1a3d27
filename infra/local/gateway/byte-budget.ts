/** A body's share of a budget. */
export interface Share {
  /** Takes so many bytes more. False where there is no room for them. */
  take(bytes: number): boolean;
  /** The body has arrived: it is no longer given up for another one. */
  settle(): void;
  /** Gives all of it back. */
  release(): void;
}

interface Holder {
  bytes: number;
  giveUp(): void;
}

/**
 * Most bytes that the bodies of all requests take together. Where they are used up, the body that has been arriving for
 * longest is given up for the new one: slow or unfinished requests cannot block others.
 */
export class ByteBudget {
  readonly #most: number;
  /** Bodies that still arrive, oldest first. */
  readonly #arriving = new Set<Holder>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @param giveUp called when the body is given up for another one; it has to release its share */
  open(giveUp: () => void): Share {
    const holder: Holder = { bytes: 0, giveUp };
    this.#arriving.add(holder);
    return {
      take: (bytes) => {
        this.#makeRoom(bytes, holder);
        if (this.#held + bytes > this.#most) return false;
        this.#held += bytes;
        holder.bytes += bytes;
        return true;
      },
      settle: () => {
        this.#arriving.delete(holder);
      },
      release: () => {
        this.#arriving.delete(holder);
        this.#held -= holder.bytes;
        holder.bytes = 0;
      },
    };
  }

  #makeRoom(bytes: number, asker: Holder): void {
    for (const holder of this.#arriving) {
      if (this.#held + bytes <= this.#most) return;
      if (holder !== asker && holder.bytes > 0) holder.giveUp();
    }
  }
}
