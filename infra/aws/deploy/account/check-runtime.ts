import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { RuntimeReport } from '../../../../shared/accounts/hashing-runtime.ts';
import type { Finding } from './finding.ts';

/** The feature that Lambda's Node needs to hash passwords. */
const needed = 'argon2 needs Node 24.7 or newer with OpenSSL 3.2 or newer';

/** Asks a deployed function whether the runtime it is in can hash passwords: AWS replaces runtimes by itself. */
export async function checkRuntime(client: LambdaClient, functionName: string): Promise<Finding> {
  const { Payload, FunctionError } = await client.send(
    new InvokeCommand({ FunctionName: functionName, Payload: Buffer.from('{"check":"runtime"}') }),
  );
  const text = Buffer.from(Payload ?? []).toString('utf8');
  if (FunctionError !== undefined) {
    return { outcome: 'problem', what: `the functions cannot hash passwords (${needed}): ${text}` };
  }
  return checkRuntimeReport(RuntimeReport.parse(JSON.parse(text)));
}

export function checkRuntimeReport({ node, openssl, failure }: Omit<RuntimeReport, 'outcome'>): Finding {
  const runtime = `Node ${node} with OpenSSL ${openssl}`;
  return failure === undefined
    ? { outcome: 'good', what: `the functions run on ${runtime}, which hashes passwords` }
    : { outcome: 'problem', what: `the functions run on ${runtime}, where ${needed}: ${failure}` };
}
