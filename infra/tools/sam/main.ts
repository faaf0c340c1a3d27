import { runMain } from '../../command/run-main.ts';
import { readOptions } from './sam-options.ts';

/** `npm run sam`: run the synthesized API in containers with `sam local`, against this machine's emulators. */
async function sam(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  // Import late: this loads all functions, which the help does not need.
  const { runSam } = await import('./run-sam.ts');
  return runSam(options);
}

await runMain(sam);
