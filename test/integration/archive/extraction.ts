import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { ArchiveError, type ArchiveLimits } from '../../../shared/archive/archive-error.ts';
import { extractArchive } from '../../../shared/archive/extract-archive.ts';

export const limits: ArchiveLimits = { maxEntries: 20, maxBytes: 100_000, maxPathBytes: 500, maxDepth: 10 };

/** A folder for each test, with the archive in it and what it is unpacked to. */
export class ExtractionFolder {
  folder = '';

  constructor() {
    beforeEach(async () => {
      this.folder = await mkdtemp(join(tmpdir(), 'extract-'));
    });
    afterEach(() => rm(this.folder, { recursive: true, force: true }));
  }

  get into(): string {
    return join(this.folder, 'into');
  }

  async extract(archive: Buffer, options: Partial<ArchiveLimits> = {}) {
    const file = join(this.folder, 'archive');
    await writeFile(file, archive);
    return await extractArchive({ file, into: this.into, limits: { ...limits, ...options } });
  }

  /** Expects the archive to be refused for that reason and nothing to be left of it. */
  async expectRefusal(archive: Buffer, reason: string | RegExp, options: Partial<ArchiveLimits> = {}) {
    const fault: unknown = await this.extract(archive, options).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ArchiveError);
    expect(String(fault)).toMatch(reason);
    expect(await readdir(this.folder)).toEqual(['archive']);
  }
}
