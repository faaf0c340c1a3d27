import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // One more than the two cores of a small machine: much of an integration test is waiting for other processes.
    maxWorkers: 3,
    expect: { requireAssertions: true },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          // They share no state, and a process for each file takes longer than most of their tests.
          // So `vi.mock` has no effect on modules that another file has imported: spy on objects instead.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**'],
          isolate: false,
          globalSetup: ['test/support/engines.ts'],
        },
      },
    ],
  },
});
