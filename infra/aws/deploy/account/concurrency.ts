import { GetAccountSettingsCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { fullBurstConcurrency } from '../../options/request-burst.ts';
import type { Finding } from './finding.ts';

/** How many functions the account may run at once; undefined where the caller may not ask. */
export async function concurrencyQuota(client: LambdaClient): Promise<number | undefined> {
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}));
    return AccountLimit?.ConcurrentExecutions;
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('AccessDenied')) return undefined;
    throw error;
  }
}

const askForMore = 'Ask for more in Service Quotas (Lambda, L-B99A9384)';

/** Whether the account runs as many functions at once as the stage lets requests through. */
export function checkConcurrency(
  quota: number | undefined,
  { requestBurst, concurrentFunctions }: DeploymentOptions,
): Finding {
  if (quota === undefined) {
    return {
      outcome: 'note',
      what: `quota of functions at once: may not be read (lambda:GetAccountSettings); ${requestBurst} requests at once need ${2 * requestBurst}`,
    };
  }
  if (concurrentFunctions !== undefined && concurrentFunctions > quota) {
    return {
      outcome: 'problem',
      what: `quota: ${quota} functions at once, but the option concurrentFunctions says ${concurrentFunctions}: leave it out, or requests get 503. ${askForMore}`,
    };
  }
  if (requestBurst > quota) {
    return {
      outcome: 'problem',
      what: `quota: ${quota} functions at once, but requestBurst lets ${requestBurst} requests through: those beyond it get 503. ${askForMore}`,
    };
  }
  if (quota < fullBurstConcurrency) {
    return {
      outcome: 'note',
      what: `quota: ${quota} functions at once, below ${fullBurstConcurrency}: the deployment takes few requests at once, the others get 429. ${askForMore}`,
    };
  }
  return { outcome: 'good', what: `quota: ${quota} functions at once` };
}
