import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: join(import.meta.dirname, '../../..'),
  test: {
    include: ['test/proofs/container/*.container.ts'],
    globalSetup: ['test/proofs/container/job-network.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'forks',
    // Containers share this machine's cores.
    fileParallelism: false,
    expect: { requireAssertions: true },
  },
});
