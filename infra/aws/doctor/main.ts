import { CommandError } from '../../command/command-error.ts';
import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { lacksAccount, runMain } from '../../command/run-main.ts';
import type { OrphanSearch } from './orphan-search.ts';
import { reportOrphans } from './report-orphans.ts';

/**
 * `npm run doctor`: examine the account and its current costs, or with `--orphans` find orphans in the tables and
 * the bucket.
 */
async function doctor(): Promise<number> {
  const flags = {
    ...optionFlags,
    orphans: { type: 'boolean' },
    local: { type: 'string' },
    for: { type: 'string' },
  } as const;
  const { context, orphans = false, local, for: jobs } = readFlags(usage, { options: flags }).values;
  if ((local !== undefined && !orphans) || (jobs !== undefined && orphans)) throw new CommandError(usage);
  if (jobs !== undefined && !/^[1-9]\d{0,5}$/.test(jobs))
    throw new CommandError(`--for must be a number of jobs from 1 to 999999, not ${jobs}.\n${usage}`);
  // Import on demand: the AWS clients and record readers are too slow to load for a wrong flag.
  if (local !== undefined) return examineStores((await import('./search-folder.ts')).searchFolder(local));
  const { deployedOptions } = await import('../deploy/read-deployment.ts');
  const options = await deployedOptions(context);
  if (orphans) return examineStores((await import('./search-deployment.ts')).searchDeployment(options));
  const { examineAccount, printNeedsAlone } = await import('./examine-account.ts');
  if (jobs === undefined) return examineAccount(options);
  try {
    return await examineAccount(options, Number(jobs));
  } catch (error) {
    if (error instanceof Error && lacksAccount(error)) await printNeedsAlone(options, Number(jobs));
    throw error;
  }
}

const usage = `Usage: npm run doctor -- [-c option=value]… [--for <jobs> | --orphans [--local <data folder>]]
  checks whether the account is ready for a deployment, and prints its current costs
${optionUsage}
  --for      also print what so many trainings of one vCPU at once need, beside what the account has
  --orphans  search the tables and the bucket for leftovers instead of checking the account
  --local    search a data folder of npm start; stop npm start first`;

/** Print the orphans of a data folder or a deployment. Return 1 if there are any. */
async function examineStores(searching: Promise<OrphanSearch>): Promise<number> {
  using search = await searching;
  const { found, text } = reportOrphans(search.findings(), search.counts);
  process.stdout.write(text);
  return found === 0 ? 0 : 1;
}

await runMain(doctor);
