import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/engines.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // Two cores do more together: much of a test is waiting for an engine. The default leaves one of them idle.
    maxWorkers: 2,
    expect: { requireAssertions: true },
  },
});
