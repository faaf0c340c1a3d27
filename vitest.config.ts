import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/engines.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    expect: { requireAssertions: true },
  },
});
