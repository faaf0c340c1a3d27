import { join } from 'node:path';
import { cdkContext, synthesizeTemplates } from '../build/templates.ts';
import { readFlags } from '../command/read-flags.ts';
import { runCommand } from '../command/run-command.ts';
import { usualMemory } from '../function-size.ts';
import { readOptions } from '../options.ts';
import { idleItems } from './idle.ts';
import { measureRequests } from './measure.ts';
import { idleReport, pricesNote, requestReport, trainingReport } from './report.ts';

const usage = 'Usage: npm run cost\n  prints what a deployment with the options of cdk.json costs';

/** `npm run cost`: what a deployment with the options of `cdk.json` costs. */
async function cost(): Promise<number> {
  readFlags(usage, {});
  const root = join(import.meta.dirname, '../..');
  const options = readOptions(await cdkContext(root));
  const templates = await synthesizeTemplates(root);
  const measured = await measureRequests(root, usualMemory);
  const parts = [
    pricesNote,
    idleReport(idleItems(templates)),
    requestReport(measured),
    trainingReport(options),
  ];
  process.stdout.write(`${parts.join('\n\n')}\n`);
  return 0;
}

await runCommand(cost);
