// Runs the bundle of every function in a folder on new local emulators; prints each answer as a JSON line.
// Usage: node test/support/run-bundles.ts <folder of the bundles>
import { join } from 'node:path';
import { startLocalEmulators } from '../../infra/aws/cost/local-emulators.ts';
import { runBundles } from '../../infra/aws/cost/run-bundles.ts';

const [, , folder = ''] = process.argv;
{
  await using emulators = await startLocalEmulators();
  Object.assign(process.env, emulators.environment);
  await runBundles(join(import.meta.dirname, '../..'), folder, (answer) => {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}
process.exit(0);
