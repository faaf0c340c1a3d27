import { join } from 'node:path';
import { givenOptions, optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import { cdkContext, synthesizeTemplates } from '../build/templates.ts';
import { readOptions } from '../options/deployment-options.ts';
import { usualMemory } from '../options/function-size.ts';
import { idleReport, pricesNote, requestReport, trainingReport } from './cost-report.ts';
import { idleItems, jobImageBytes } from './idle.ts';
import { measureRequests } from './measure.ts';
import { monthCosts, peopleReport } from './people.ts';

/** `npm run cost`: print the cost of a deployment. */
async function cost(): Promise<number> {
  const { context } = readFlags(usage, { options: optionFlags }).values;
  const root = join(import.meta.dirname, '../../..');
  const given = { ...(await cdkContext(root)), ...givenOptions(context) };
  const options = readOptions(given);
  const templates = await synthesizeTemplates(root, given);
  const measured = await measureRequests(root, usualMemory);
  const parts = [
    pricesNote,
    idleReport(idleItems(templates, await jobImageBytes(root))),
    requestReport(measured),
    trainingReport(options),
    peopleReport(monthCosts(measured, options)),
  ];
  process.stdout.write(`${parts.join('\n\n')}\n`);
  return 0;
}

const usage = `Usage: npm run cost -- [-c option=value]…
  prints the cost of a deployment; needs no account
${optionUsage}`;

await runMain(cost);
