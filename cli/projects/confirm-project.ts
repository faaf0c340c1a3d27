import type { endpoint as listVariables } from '../../functions/projects/variables/list-variables.endpoint.ts';
import type { endpoint as readOwnAccount } from '../../functions/users/read-own-account.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { quoteCommand } from '../../shared/command/quote-command.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { ask } from '../login/ask.ts';
import type { Session } from '../login/connect.ts';
import type { Project } from './find-project.ts';
import { isKnownFolder, otherFolder } from './known-folders.ts';

/**
 * Ask before a folder's program gets the secrets of a project for the first time. The author of a folder that came from
 * somebody else chose the name in its `mps.yaml`, and may have chosen that of a project of this user.
 *
 * @throws CliError if the user refuses, or cannot be asked
 */
export async function confirmProject(
  { client, env }: Session,
  { project_id, project_name }: Project,
  folder: string,
  { isNamed }: { isNamed: boolean },
): Promise<void> {
  if (!isNamed) await confirmSameProject({ client, env }, { project_id, project_name }, folder);
  if (await isKnownFolder(env, { url: client.url, project_id, folder })) return;
  const route = 'GET /projects/{project_id}/variables';
  const variables = await client.call<typeof listVariables>(route, { path: { project_id } });
  const secrets = variables.filter(({ secret }) => secret).map(({ name }) => name);
  if (secrets.length === 0) return;
  // A viewer trains nothing, which the service says better. A token with a scope may not ask whose it is.
  const account = await client.call<typeof readOwnAccount>('GET /users/me').catch((error: unknown) => {
    if (error instanceof ProblemError && error.status === 403) return undefined;
    throw error;
  });
  if (account?.account_type === 'viewer') return;
  const fact = `No training of this folder was in project "${project_name}" yet. Its program would get the secrets of the project: ${secrets.join(', ')}.`;
  if (process.stdin.isTTY !== true) {
    const advice = quoteCommand(['--project', project_name]);
    throw new CliError(`${fact} If you trust this folder, say ${advice} once.`, exitCodes.usage);
  }
  const answer = await ask(`${fact}\nTrain it there? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was uploaded.');
}

/**
 * Ask before a folder shares a project with another folder only because both have the same name.
 *
 * @throws CliError if the user refuses, or cannot be asked
 */
export async function confirmSameProject(
  { client, env }: Pick<Session, 'client' | 'env'>,
  { project_id, project_name }: Pick<Project, 'project_id' | 'project_name'>,
  folder: string,
): Promise<void> {
  const other = await otherFolder(env, { url: client.url, project_id, folder });
  if (other === undefined) return;
  const fact = `Project "${project_name}" is that of another folder of the same name, ${other}. This one would share its data set, command and experiments.`;
  const advice = `To keep them apart, write "project: <another name>" into mps.yaml; to share it, say ${quoteCommand(['--project', project_name])} once.`;
  if (process.stdin.isTTY !== true) throw new CliError(`${fact}\n${advice}`, exitCodes.usage);
  const answer = await ask(`${fact}\n${advice}\nShare it? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was uploaded.');
}
