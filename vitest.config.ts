import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { shuffled } from './test/support/random-choice.ts';
import { seededRandom } from './test/support/seeded-random.ts';

/** Files that take long, mostly because they wait. Vitest goes by the size of a file until it has run once. */
const waiting = [
  'e2e/mps',
  'access/access',
  'machine/limits',
  'faults/short-forms',
  'training/rerun',
  'training/lost-node',
  'infra/bundles',
  'commands/commands',
  'fuzz/fuzz',
  'training/life',
  'outputs/kept-checkpoints',
  'secrets/secrets',
  'infra/deployment',
];
/** Files between two that wait. */
const between = 5;

/** A sequencer of one's own takes the place of vitest's, which puts files into a random order. */
const isShuffled = process.argv.some((argument) => /^--sequence\.shuffle(\.files)?(=|$)/.test(argument));

/**
 * Begins what takes long early, so that nothing of it is left to run alone at the end, and one after the other among files
 * that compute: three that wait at the same time would leave the processors idle. Shuffled, what waits and what computes
 * each come in an order that the seed gives.
 */
class WaitingApart extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = isShuffled ? this.shuffled(files) : await super.sort(files);
    const { waits = [], others = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      waiting.some((name) => moduleId.endsWith(`${name}.test.ts`)) ? 'waits' : 'others',
    );
    const first = waits.flatMap((file, index) => [
      file,
      ...others.slice(index * between, (index + 1) * between),
    ]);
    return [...first, ...others.slice(waits.length * between)];
  }

  private shuffled(files: readonly TestSpecification[]): TestSpecification[] {
    // The order in which files are found may differ; the seed alone decides.
    const named = files.toSorted((one, other) => (one.moduleId < other.moduleId ? -1 : 1));
    return shuffled(seededRandom(this.ctx.config.sequence.seed), named);
  }
}

const asked = process.argv.filter((argument) => /^(\.\/)?test\//.test(argument));
// What is asked for by its name is tested whole (`test/support/samples.ts`).
if (asked.length > 0) process.env['EVERY_SAMPLE'] = '1';

/** Unit tests alone need no engines, which take seconds to start. */
const isUnitAlone = asked.length > 0 && asked.every((path) => /^(\.\/)?test\/unit\b/.test(path));

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Against a hang alone: a busy machine may take ten times as long as one at rest.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // Two more than the cores of a small machine: much of an integration test is waiting for other processes. Three left
    // a seventh of the processors' time idle.
    maxWorkers: 4,
    // They share no state, and each process loads and compiles the same modules for five seconds of a processor.
    isolate: false,
    // Node runs TypeScript, here as everywhere else. Vite's loader makes each name that a module imports a look-up, and
    // took an eighth of the time of all tests, besides 25 seconds of a processor in a fresh checkout. So `vi.mock` has no
    // effect: spy on objects instead.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // What is waited for comes in its own time.
    expect: { requireAssertions: true, poll: { timeout: 240_000 } },
    sequence: { sequencer: WaitingApart },
    // The CDK's own check of a template takes as long as all tests of deployments: `npm run synth` makes it, which `.ci/run`
    // runs.
    env: { CDK_VALIDATION: 'false' },
    ...(!isUnitAlone && { globalSetup: ['test/support/emulators.ts'] }),
  },
});
