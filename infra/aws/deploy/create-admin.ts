import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { FirstAdminAnswer } from '../../../functions/admin/create-first-admin.event.ts';
import { firstAdminName } from '../../../shared/accounts/first-admin.ts';
import { newPasswordOf } from '../../../shared/accounts/password-rules.ts';
import { CommandError } from '../../command/command-error.ts';
import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import { askHidden } from './hidden-question.ts';
import { clientConfig, deployedOptions, outputsOf, stackName } from './read-deployment.ts';

/** `npm run create-admin`: create the first user of a deployment. */
async function createAdmin(): Promise<number> {
  const { context } = readFlags(usage, { options: optionFlags }).values;
  const options = await deployedOptions(context);
  const formation = new CloudFormationClient(clientConfig(options));
  const [background, api] = await Promise.all([
    outputsOf(formation, stackName(options, 'background')),
    outputsOf(formation, stackName(options, 'api')),
  ]);
  const name = background?.['FirstAdminFunction'];
  if (name === undefined)
    throw new CommandError(
      'The service is not deployed in this account and region. Run npm run deploy first.',
    );
  const password = await askPassword();
  return report(
    await invoke(new LambdaClient(clientConfig(options)), name, password),
    api?.['BaseUrl'] ?? '',
  );
}

const usage = `Usage: npm run create-admin -- [-c option=value]…
  asks for a password and creates "admin", the first user of a deployment
${optionUsage}`;

async function askPassword(): Promise<string> {
  const password = await askHidden('Password of the user "admin": ');
  const checked = newPasswordOf(firstAdminName).safeParse(password);
  if (!checked.success)
    throw new CommandError(`The password ${checked.error.issues[0]?.message ?? 'is invalid'}.`);
  if (process.stdin.isTTY && (await askHidden('Once more: ')) !== password) {
    throw new CommandError('The passwords differ. Nothing was changed.');
  }
  return password;
}

function report(answer: FirstAdminAnswer, url: string): number {
  switch (answer.outcome) {
    case 'created':
      process.stdout.write(
        `The user "${answer.username}" was created. Sign in with POST ${url}/auth/token\n`,
      );
      return 0;
    case 'bad-password':
      throw new CommandError(`The password ${answer.message}.`);
    case 'refused':
      throw new CommandError(
        answer.reason === 'admin-exists'
          ? 'An admin already exists, so none was created. Admins create users with POST /users/.'
          : 'The user "admin" exists but is not an admin, so no admin was created.',
      );
  }
}

async function invoke(client: LambdaClient, name: string, password: string): Promise<FirstAdminAnswer> {
  const { Payload, FunctionError } = await client.send(
    new InvokeCommand({ FunctionName: name, Payload: Buffer.from(JSON.stringify({ password })) }),
  );
  const text = Buffer.from(Payload ?? []).toString('utf8');
  if (FunctionError !== undefined) throw new CommandError(`The function failed: ${text}`);
  return FirstAdminAnswer.parse(JSON.parse(text));
}

await runMain(createAdmin);
