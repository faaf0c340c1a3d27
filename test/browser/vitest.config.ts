import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    include: ['test/browser/*.browser.ts'],
    // Against a hang alone, as those of all other tests.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // A browser and a service take both cores of a small machine.
    fileParallelism: false,
    expect: { requireAssertions: true, poll: { timeout: 240_000 } },
  },
});
