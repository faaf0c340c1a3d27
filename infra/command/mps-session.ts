import { fileURLToPath } from 'node:url';
import { CliError, errorText } from '../../cli/cli-error.ts';
import { connect, type Session } from '../../cli/login/connect.ts';
import { UnreachableError } from '../../shared/client/unreachable-error.ts';
import { CommandError } from './command-error.ts';

/**
 * Connect to the service that `mps` uses, with the login of `mps`. The service is, in this order, the one at
 * `url`, the one in MPS_URL, the one of the last login, or the one that this checkout runs.
 *
 * @throws CommandError if nobody has signed in to the service, or if it does not run
 */
export async function mpsSession(
  environment: Readonly<Record<string, string | undefined>>,
  url?: string,
): Promise<Session> {
  const named = url === undefined ? {} : { MPS_URL: url };
  return connect({ MPS_CHECKOUT: checkout, ...environment, ...named }).catch((error: unknown) => {
    const isTold = error instanceof CliError || error instanceof UnreachableError;
    throw isTold ? new CommandError(errorText(error, false)) : error;
  });
}

const checkout = fileURLToPath(new URL('../..', import.meta.url));
