import { CommandError } from '../../command/command-error.ts';
import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import type { OrphanSearch } from './orphan-search.ts';
import { reportOrphans } from './report-orphans.ts';

/** `npm run doctor`: the account and what costs money in it; or, with `--orphans`, orphans in the tables and the bucket. */
async function doctor(): Promise<number> {
  const flags = { ...optionFlags, orphans: { type: 'boolean' }, local: { type: 'string' } } as const;
  const { context, orphans = false, local } = readFlags(usage, { options: flags }).values;
  if (local !== undefined && !orphans) throw new CommandError(usage);
  // Each with what it needs alone: the clients of AWS and the readers of all records are a lot to load for a wrong flag.
  if (local !== undefined) return examineStores((await import('./search-folder.ts')).searchFolder(local));
  const { deployedOptions } = await import('../deploy/read-deployment.ts');
  const options = await deployedOptions(context);
  if (orphans) return examineStores((await import('./search-deployment.ts')).searchDeployment(options));
  return (await import('./account/examine-account.ts')).examineAccount(options);
}

const usage = `Usage: npm run doctor -- [-c option=value]… [--orphans [--local <data folder>]]
  says whether the account is ready for a deployment, and what costs money in it now
${optionUsage}
  --orphans  look whether anything is left over in the tables and the bucket, instead of at the account
  --local    the same in a data folder of npm start, which must be stopped`;

/** Whether anything is left over, in a data folder of this machine or in the account. */
async function examineStores(searching: Promise<OrphanSearch>): Promise<number> {
  using search = await searching;
  const { found, text } = reportOrphans(search.findings(), search.counts);
  process.stdout.write(text);
  return found === 0 ? 0 : 1;
}

await runMain(doctor);
