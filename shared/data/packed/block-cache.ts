/** Most bytes of blocks that a process keeps unpacked. */
const cacheMaxBytes = 160_000_000;

interface Cached {
  block: object;
  bytes: number;
}

const cached = new Map<string, Cached>();
let cachedBytes = 0;

/** A block that was kept: blocks never change, so what is kept is good for ever. */
export function cachedBlock(name: string): object | undefined {
  const found = cached.get(name);
  if (found === undefined) return undefined;
  // The last used is the last to go.
  cached.delete(name);
  cached.set(name, found);
  return found.block;
}

/** Keep a block, in the place of those that were not used for longest. */
export function keepBlock(name: string, block: object, bytes: number): void {
  if (cached.has(name) || bytes > cacheMaxBytes / 4) return;
  cached.set(name, { block, bytes });
  cachedBytes += bytes;
  for (const [oldest, { bytes: freed }] of cached) {
    if (cachedBytes <= cacheMaxBytes) return;
    cached.delete(oldest);
    cachedBytes -= freed;
  }
}
