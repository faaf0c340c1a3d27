import { readFlags } from '../../../infra/command/read-flags.ts';
import { runMain } from '../../../infra/command/run-main.ts';
import { checks } from './check-truths.ts';
import { rowOf, truths } from './truths.ts';
import { startWorld } from './world.ts';

const usage = `Usage: npm run proof -- truths
  checks each row of the README's table against the running service, and prints those that are true`;

/** `npm run proof -- truths`. Ends with 1 if a row is not true. */
async function prove(): Promise<number> {
  readFlags(usage, { options: {} });
  await using started = new AsyncDisposableStack();
  const world = await startWorld(started);
  let failed = 0;
  for (const truth of truths) {
    const faults = await checks[truth.name](world);
    if (faults.length === 0) console.log(rowOf(truth));
    else console.error(`NOT TRUE: ${truth.what}: ${faults.join('; ')}`);
    failed += faults.length;
  }
  return failed === 0 ? 0 : 1;
}

await runMain(prove);
