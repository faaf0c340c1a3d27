import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findChromium } from './chromium.ts';

// `npm run proof -- browser`: the console as a person uses it, in a real browser on the real local service.
const usage = `Usage: npm run proof -- browser [arguments of vitest]
  uses the console in Chromium; CHROMIUM names its program where it is not in PATH,
  and SLOWER=6 gives pages a sixth of the processor, to find tests that look too early`;

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(`${usage}\n`);
  process.exit(0);
}
if (findChromium() === undefined) {
  process.stderr.write(
    'NOTHING WAS TESTED: there is no Chromium (`apt-get install chromium`, or set CHROMIUM).\n',
  );
  process.exit(0);
}
const config = join(import.meta.dirname, 'vitest.config.ts');
const args = ['run', '--config', config, ...process.argv.slice(2)];
process.exit(spawnSync('vitest', args, { stdio: 'inherit' }).status ?? 1);
