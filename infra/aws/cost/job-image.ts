import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { prepareImageContext } from '../job-image/context.ts';

/**
 * Compressed bytes of what the Dockerfile adds to the context, measured on 2026-11-25 for amd64: packages as Debian's index
 * of trixie has them, the program of Node 24.21 by gzip, and the wheel of uv 0.13.9. A registry keeps layers by gzip, which
 * is somewhat more than Debian's xz.
 */
const measuredLayers = { debian: 32_772_900, packages: 8_543_932, node: 44_617_929, uv: 17_606_939 };

/** About the bytes of the job image in a registry, with the context as it is now. Needs neither Docker nor an account. */
export async function jobImageBytes(root: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-image-'));
  try {
    await prepareImageContext(root, join(folder, 'context'));
    let bytes = Object.values(measuredLayers).reduce((sum, one) => sum + one, 0);
    for await (const piece of create({ gzip: true, cwd: folder }, ['context'])) bytes += piece.length;
    return bytes;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
