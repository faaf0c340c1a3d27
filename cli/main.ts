import { run } from '@stricli/core';
import { application } from './application.ts';
import { exitCodes } from './cli-error.ts';
import { cliContext } from './context.ts';

// Who reads has gone, as `head` does: nobody is there to be told.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    process.exit(code === 'EPIPE' ? 0 : exitCodes.failure);
  });

const inputs = process.argv.slice(2);
const end = inputs.indexOf('--');
const own = end === -1 ? inputs : inputs.slice(0, end);
const context = cliContext(process);
await run(application(own.includes('--verbose')), inputs, context);
const { exitCode } = context.process;
// The library's own codes are negative: all of them say that the command line is wrong.
process.exitCode = Number(exitCode ?? 0) < 0 ? exitCodes.usage : Number(exitCode ?? 0);
