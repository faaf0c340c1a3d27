import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    include: ['test/browser/*.browser.ts'],
    testTimeout: 180_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // A browser and a service take both cores of a small machine.
    fileParallelism: false,
    expect: { requireAssertions: true, poll: { timeout: 30_000 } },
  },
});
