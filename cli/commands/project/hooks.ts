import { buildRouteMap } from '@stricli/core';
import type { endpoint as deleteHook } from '../../../functions/projects/hooks/delete-hook.endpoint.ts';
import type { endpoint as listDeliveries } from '../../../functions/projects/hooks/list-deliveries.endpoint.ts';
import type { endpoint as listHooks } from '../../../functions/projects/hooks/list-hooks.endpoint.ts';
import type { endpoint as putHook } from '../../../functions/projects/hooks/put-hook.endpoint.ts';
import type { endpoint as redeliverMessage } from '../../../functions/projects/hooks/redeliver-message.endpoint.ts';
import type { endpoint as testHook } from '../../../functions/projects/hooks/test-hook.endpoint.ts';
import { usualEvents } from '../../../shared/hooks/usual-events.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { ask, pipedText } from '../../login/ask.ts';
import { connect } from '../../login/connect.ts';
import { projectSession, projectToFill } from '../../projects/project-session.ts';
import { command } from '../command.ts';
import { json, project, text } from '../flags.ts';
import { removeNamed } from './remove-named.ts';

const lsCommand = command({
  brief: 'List the hooks of a project',
  help: 'Examples:\n  mps hooks\n  mps hooks ls --json',
  flags: { project, json },
  async run({ project: given, json: isJson }) {
    const { client, path } = await projectSession(this, given);
    const hooks = await client.call<typeof listHooks>('GET /projects/{project_id}/hooks', { path });
    if (isJson) this.printer.json(hooks);
    else
      this.printer.table(
        ['NAME', 'FORMAT', 'RECEIVER', 'EVENTS', 'FILTER'],
        hooks.map(({ name, format, host, events, filter, disabled }) => [
          name,
          disabled === null ? format : `${format}, disabled`,
          host,
          events.join(', '),
          filter ?? '',
        ]),
      );
  },
});

const setCommand = command({
  brief: 'Set a hook: a receiver of messages about events',
  help: `Type the URL of the receiver or pipe it in; it is a secret. Mails need none.

Examples:
  mps hooks set team --format slack < url-file
  mps hooks set ci --on experiment.failed --filter "tags.branch = 'main'"`,
  args: [{ brief: 'Name of the hook', placeholder: 'NAME', parse: String }],
  flags: {
    on: text('EVENTS', `Events, separated by commas (default ${usualEvents.join(',')})`),
    format: text(
      'FORMAT',
      'standard (signed), slack, discord, teams, or mail to the addresses of the deployment',
    ),
    filter: text('FILTER', 'Experiments to tell it of, by a filter as "mps ls" takes it'),
    project,
    json,
  },
  async run({ on, format, filter, project: given, json: isJson }, name) {
    if (/^https?:/.test(name))
      throw new CliError(
        "A URL on the command line stays in your shell's history, and whoever has it can write to the receiver. Pipe it in or type it: mps hooks set NAME",
        exitCodes.usage,
      );
    const session = await connect(this.env);
    const { stdin } = this.process;
    const typed =
      format === 'mail'
        ? ''
        : stdin.isTTY === true
          ? await ask('URL of the receiver (Enter keeps the present one): ', { isSecret: true })
          : await pipedText();
    const url = typed.trim();
    const path = await projectToFill(this, session, given);
    const stored = await session.client.call<typeof putHook>('PUT /projects/{project_id}/hooks/{name}', {
      path: { ...path, name },
      // The service checks these words, and names those that it knows.
      body: {
        ...(url !== '' && { url }),
        ...(format !== undefined && { format: format as 'standard' }),
        ...(filter !== undefined && { filter }),
        events:
          on === undefined
            ? [...usualEvents]
            : (on.split(',').map((event) => event.trim()) as 'sweep.ended'[]),
      },
    });
    if (isJson) {
      this.printer.json(stored);
      return;
    }
    this.printer.say(`${name} is set, to ${stored.host}. Try it: mps hooks test ${name}`);
    if (stored.secret !== null)
      this.printer.say(
        `Its messages are signed with this secret, which is shown only now:\n${stored.secret}`,
      );
  },
});

type Delivery = Awaited<ReturnType<typeof deliveriesOf>>[number];

/** Say what came of a message. @throws CliError if it was not delivered */
function showOutcome({ printer }: CliContext, delivery: Delivery, isJson: boolean | undefined): void {
  const { status, attempts, delivery_id } = delivery;
  if (isJson) printer.json(delivery);
  if (status === 'delivered') {
    if (!isJson) printer.say(`Delivered in ${(attempts.at(-1)?.seconds ?? 0).toFixed(1)} s.`);
    return;
  }
  const why = attempts.at(-1)?.error ?? 'It is sent within a minute.';
  throw new CliError(`${delivery_id} was not delivered. ${why}`, exitCodes.failure);
}

const nameOfHook = { brief: 'Name of the hook', placeholder: 'NAME', parse: String } as const;

const testCommand = command({
  brief: 'Send a test message to a hook',
  help: 'Example:\n  mps hooks test team',
  args: [nameOfHook],
  flags: { project, json },
  async run({ project: given, json: isJson }, name) {
    const { client, path } = await projectSession(this, given);
    const route = 'POST /projects/{project_id}/hooks/{name}/test';
    showOutcome(this, await client.call<typeof testHook>(route, { path: { ...path, name } }), isJson);
  },
});

const rmCommand = removeNamed({
  many: 'Hooks',
  brief: 'Delete hooks of a project',
  example: 'mps hooks rm team',
  remove: ({ client, path }, name) =>
    client.call<typeof deleteHook>('DELETE /projects/{project_id}/hooks/{name}', { path: { ...path, name } }),
});

const deliveriesOf = (
  client: Awaited<ReturnType<typeof connect>>['client'],
  path: { project_id: string; name: string },
) =>
  client.call<typeof listDeliveries>('GET /projects/{project_id}/hooks/{name}/deliveries', {
    path,
    query: { limit: 50 },
  });

const deliveriesCommand = command({
  brief: 'List the last messages to a hook, and why they failed',
  help: 'Example:\n  mps hooks deliveries team',
  args: [nameOfHook],
  flags: { project, json },
  async run({ project: given, json: isJson }, name) {
    const { client, path } = await projectSession(this, given);
    const found = await deliveriesOf(client, { ...path, name });
    if (isJson) this.printer.json(found);
    else
      this.printer.table(
        ['DELIVERY', 'TIME', 'STATUS', 'TRIES', 'MESSAGE', 'LAST ERROR'],
        found.map(({ delivery_id, created_at, status, tries, title, attempts }) => [
          delivery_id,
          created_at,
          status,
          String(tries),
          title,
          attempts.at(-1)?.error ?? '',
        ]),
      );
  },
});

const redeliverCommand = command({
  brief: 'Send a message to a hook once more',
  help: 'Example:\n  mps hooks redeliver team 01jgk8c9d2f4h6k8n0q2t4w6za',
  args: [
    nameOfHook,
    { brief: 'ID of the delivery, from "mps hooks deliveries"', placeholder: 'DELIVERY', parse: String },
  ],
  flags: { project, json },
  async run({ project: given, json: isJson }, name, delivery_id) {
    const { client, path } = await projectSession(this, given);
    const route = 'POST /projects/{project_id}/hooks/{name}/deliveries/{delivery_id}/redeliver';
    const call = client.call<typeof redeliverMessage>(route, { path: { ...path, name, delivery_id } });
    showOutcome(this, await call, isJson);
  },
});

export const hookRoutes = buildRouteMap<string, CliContext>({
  routes: {
    ls: lsCommand,
    set: setCommand,
    rm: rmCommand,
    test: testCommand,
    deliveries: deliveriesCommand,
    redeliver: redeliverCommand,
  },
  defaultCommand: 'ls',
  docs: { brief: 'Send messages about events to Slack, Discord, Teams or a program' },
});
