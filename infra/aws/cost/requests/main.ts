// Runs the bundle of every function in a folder on engines of its own; prints what each answered, a JSON line each.
// Usage: node infra/aws/cost/requests/main.ts <folder of the bundles>
import { join } from 'node:path';
import { startLocalEngines } from './local-engines.ts';
import { runBundles } from './run-bundles.ts';

const [, , folder = ''] = process.argv;
{
  await using engines = await startLocalEngines();
  Object.assign(process.env, engines.environment);
  await runBundles(join(import.meta.dirname, '../../../..'), folder, (answer) => {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
}
process.exit(0);
