import { runMain } from '../../command/run-main.ts';
import { readOptions } from './sam-options.ts';

/** `npm run sam`: the synthesized API in containers, by `sam local`, against this machine's emulators. */
async function sam(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  // With all functions, which no help needs.
  const { runSam } = await import('./run-sam.ts');
  return runSam(options);
}

await runMain(sam);
