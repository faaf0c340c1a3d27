import { incompleteText } from './incomplete.ts';

/** Text of `mps --help`, by the bundler, which runs the command once: nobody waits for 40 commands to be loaded. */
declare const MPS_HELP: string | undefined;

const [first, ...others] = process.argv.slice(2);
const isForHelp = others.length === 0 && [undefined, '--help', '-h'].includes(first);
if (isForHelp && typeof MPS_HELP === 'string') process.stdout.write(MPS_HELP);
else
  try {
    const { main } = await import('./main.ts');
    await main();
  } catch (error) {
    const text = incompleteText(error);
    if (text === undefined) throw error;
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  }
