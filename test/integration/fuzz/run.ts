import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';

// `npm run proof -- fuzz`: every drawn test and a short run of Schemathesis, from another seed each time.

const root = join(import.meta.dirname, '../../..');

/** Against a hang alone, as in `npm test`: a test here does sixteen times as much. */
const patienceMs = 16 * 300_000;

const usage = `Usage: npm run proof -- fuzz [--seed <number>] [--requests <number>]
  --seed      what is drawn; without it another one each time, which is printed
  --requests  requests to each operation (500)`;

const whole = (flag: string, text: string): number => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError(`--${flag} must be a whole number from 1 to 999999999, not "${text}".\n${usage}`);
};

function run(command: string, args: readonly string[], more: Readonly<Record<string, string>>): number {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...more },
  });
  return status ?? 1;
}

async function fuzz(): Promise<number> {
  const { values } = readFlags(usage, {
    options: { seed: { type: 'string' }, requests: { type: 'string', default: '500' } },
  });
  const seed = values.seed === undefined ? randomInt(1, 1e9) : whole('seed', values.seed);
  const requests = whole('requests', values.requests);
  const said = `Seed ${seed}; the same again: npm run proof -- fuzz --seed ${seed} --requests ${requests}\n`;
  process.stdout.write(said);
  const drawnTests = ['test/support/seeded-fast-check.ts', 'test/support/injection/sample.ts'];
  const drawn = run('vitest', ['related', '--run', `--testTimeout=${patienceMs}`, ...drawnTests], {
    FUZZ_SEED: String(seed),
    FUZZ_REQUESTS: String(requests),
  });
  const published = run('test/proofs/schemathesis/run.sh', ['--max-examples', '5', '--seed', String(seed)], {
    MIN_REQUESTS: '1',
  });
  process.stdout.write(said);
  return drawn || published;
}

await runMain(fuzz);
