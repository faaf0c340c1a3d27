import { buildRouteMap } from '@stricli/core';
import type { endpoint as deleteVariable } from '../../../functions/projects/variables/delete-variable.endpoint.ts';
import type { endpoint as listVariables } from '../../../functions/projects/variables/list-variables.endpoint.ts';
import type { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { ask, pipedText } from '../../login/ask.ts';
import { connect } from '../../login/connect.ts';
import { findEnvironment } from '../../projects/find-environment.ts';
import { rememberFolder } from '../../projects/known-folders.ts';
import { projectSession, projectToFill } from '../../projects/project-session.ts';
import { command } from '../command.ts';
import { choice, json, project } from '../flags.ts';
import { removeNamed } from './remove-named.ts';

const showCommand = command({
  brief: 'Show the environment and the variables of a project',
  help: 'Examples:\n  mps env\n  mps env show --json',
  flags: { project, json },
  async run({ project: given, json: isJson }) {
    const { client, path } = await projectSession(this, given);
    const [environment, variables] = await Promise.all([
      findEnvironment(client, path.project_id),
      client.call<typeof listVariables>('GET /projects/{project_id}/variables', { path }),
    ]);
    if (isJson) {
      this.printer.json({ environment: environment ?? null, variables });
      return;
    }
    if (environment === undefined) this.printer.say('The project has no environment yet; "mps run" sets it.');
    else {
      const { entry_point_command, env_type, dependencies, lock_hash } = environment;
      this.printer.facts([
        ['command', entry_point_command],
        ['type', env_type],
        ['dependencies', dependencies.replaceAll('\n', ', ')],
        ['lock hash', lock_hash],
      ]);
    }
    this.printer.facts(variables.map(({ name, value }) => [name, value ?? '(secret)'] as const));
  },
});

/**
 * Read the value of a variable. Refuse a secret on the command line, because it would stay in the shell's history.
 */
async function readVariable(
  { process: { stdin } }: CliContext,
  given: string,
  isPlain: boolean,
): Promise<{ name: string; value: string }> {
  const at = given.indexOf('=');
  if (at === -1) {
    const value = stdin.isTTY === true ? await ask(`${given}: `, { isSecret: !isPlain }) : await pipedText();
    return { name: given, value };
  }
  if (isPlain) return { name: given.slice(0, at), value: given.slice(at + 1) };
  const name = given.slice(0, at);
  throw new CliError(
    `A secret on the command line stays in your shell's history. Pipe it in or type it: mps env set ${name}\nIf it is not a secret: mps env set --plain ${name}=…`,
    exitCodes.usage,
  );
}

const setCommand = command({
  brief: 'Set an environment variable of a project; a secret without --plain',
  help: `Every later training gets it. Type the value or pipe it in; a final line end is removed.

Examples:
  mps env set HF_TOKEN < token-file
  mps env set --plain WANDB_MODE=offline`,
  args: [{ brief: 'Name of the variable; with --plain, NAME=VALUE', placeholder: 'NAME', parse: String }],
  flags: { plain: choice('Not a secret: show its value'), project, json },
  async run({ plain = false, project: given, json: isJson }, variable) {
    const session = await connect(this.env);
    const { name, value } = await readVariable(this, variable, plain);
    const path = await projectToFill(this, session, given);
    const route = 'PUT /projects/{project_id}/variables/{name}';
    const stored = await session.client.call<typeof putVariable>(route, {
      path: { ...path, name },
      body: { value, secret: !plain },
    });
    // Who gives a secret to the project of this folder means the folder's program to have it. A variable says nothing of that.
    if (!plain) await rememberFolder(this.env, { url: session.client.url, ...path, folder: this.folder });
    if (isJson) this.printer.json(stored);
    else this.printer.say(`${name} is set${stored.secret ? '; nobody can read it again' : ''}.`);
  },
});

const rmCommand = removeNamed({
  many: 'Variables',
  brief: 'Delete environment variables of a project',
  example: 'mps env rm HF_TOKEN',
  remove: ({ client, path }, name) =>
    client.call<typeof deleteVariable>('DELETE /projects/{project_id}/variables/{name}', {
      path: { ...path, name },
    }),
});

export const envRoutes = buildRouteMap<string, CliContext>({
  routes: { show: showCommand, set: setCommand, rm: rmCommand },
  defaultCommand: 'show',
  docs: { brief: 'Show the environment of a project, and set its variables and secrets' },
});
