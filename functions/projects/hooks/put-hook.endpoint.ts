import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { openSealed, seal } from '../../../shared/core/encryption.ts';
import { badRequest, type ParameterFault, ServiceError } from '../../../shared/core/service-error.ts';
import {
  type Hook,
  type HookSecrets,
  hookPurpose,
  maxHooks,
  readHooksToReplace,
  replaceHooks,
} from '../../../shared/data/hooks/hook.ts';
import { changeInProject } from '../../../shared/data/projects/change-in-project.ts';
import { makeVariablesKey, obtainVariablesKey } from '../../../shared/data/projects/variable.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { noMail } from '../../../shared/hooks/message.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { type Ambient, pathOfHost } from '../../../shared/http/definition/endpoint-context.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { urlFault } from '../../../shared/outgoing/receiver-address.ts';
import { HookAnswer, HookBody, hookPath, secretPrefix, showHook } from './hook.ts';

export const endpoint = defineEndpoint({
  name: 'putHook',
  method: 'PUT',
  path: '/projects/{project_id}/hooks/{name}',
  summary: 'Set a hook: a receiver of messages about events',
  description: `Messages are sent within seconds, at least once, in the order of the events of each experiment, and tried for 24 hours. A message of the format \`standard\` has \`type\`, \`timestamp\` and \`data\` (the experiment), and is signed. URL and secret are encrypted and never returned. The receiver must have a public address; redirects are not followed. A hook whose receiver answers 410 is disabled until it is set again. A project has at most ${maxHooks} hooks.`,
  allow: 'developer',
  project: 'owner',
  audit: { fields: ['format', 'events'] },
  needs: { records: writeRecords, keys: makeVariablesKey },
  input: { path: hookPath, body: fields(HookBody) },
  output: {
    200: HookAnswer.extend({
      secret: z
        .string()
        .nullable()
        .describe('Secret that this request made; null if it was given, kept, or is not used.'),
    }),
  },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ path: { name }, body }, context) {
    const { records, keys, now, newId, settings } = context;
    const { url, secret, format } = body;
    const fault = url === undefined ? undefined : urlFault(url, settings.hookHosts);
    const isMail = format === 'mail';
    const faults: ParameterFault[] = [
      ...(isMail && settings.mailTopic === undefined ? [bodyFault('format', `mail ${noMail}`)] : []),
      ...(isMail && url !== undefined
        ? [bodyFault('url', 'is not for the format mail, which goes to the addresses of the deployment')]
        : []),
      ...(fault === undefined ? [] : [bodyFault('url', fault)]),
      ...(secret !== undefined && format !== 'standard'
        ? [bodyFault('secret', 'is for the format standard alone; other receivers know no signature')]
        : []),
    ];
    if (faults.length > 0) throw badRequest(faults);
    const key = await obtainVariablesKey(keys, now());
    return changeInProject(context, async ({ project_id }) => {
      const { exists, ...present } = await readHooksToReplace(records, project_id);
      const previous = present.hooks.find((hook) => hook.name === name);
      requirePrecondition(context, previous?.version);
      if (previous === undefined && present.hooks.length >= maxHooks)
        throw new ServiceError(
          'conflict',
          `The project has the maximum of ${maxHooks} hooks. Delete one first.`,
        );
      const before = previous && openSecrets(key, project_id, previous);
      const target = isMail ? '' : (url ?? before?.url ?? '');
      if (!isMail && target === '')
        throw badRequest([
          bodyFault('url', `is required for a ${before === undefined ? 'new hook' : 'hook that sent mails'}`),
        ]);
      const given = secret ?? before?.secret ?? null;
      const made = format === 'standard' && given === null ? newSecret() : null;
      const hook_id = previous?.hook_id ?? newId();
      const secrets: HookSecrets = { url: target, secret: format === 'standard' ? (given ?? made) : null };
      const time = now().toISOString();
      context.noteAudit({ before: previous });
      const version = (previous?.version ?? present.versions_before) + 1;
      const hook: Hook = {
        hook_id,
        name,
        sealed: seal(key, JSON.stringify(secrets), hookPurpose(project_id, hook_id)),
        host: isMail ? topicName(settings.mailTopic) : new URL(target).host,
        format,
        events: body.events,
        filter: body.filter === undefined || body.filter.trim() === '' ? null : body.filter,
        console_url: consoleUrl(context) ?? previous?.console_url ?? null,
        disabled: null,
        created_at: previous?.created_at ?? time,
        updated_at: time,
        version,
      };
      const others = present.hooks.filter((one) => one !== previous);
      const hooks = [...others, hook].toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const changed = { ...present, hooks, version: present.version + 1 };
      await records.write(...replaceHooks(changed, { version: present.version, exists }));
      return Reply.json({ ...showHook(hook), secret: made }, { version });
    });
  },
});

const bodyFault = (name: string, message: string): ParameterFault => ({ in: 'body', name, message });

/** Return the secrets of a stored hook. Return undefined if they cannot be decrypted; they must be given again. */
function openSecrets(
  key: Uint8Array,
  project_id: string,
  { sealed, hook_id }: Hook,
): HookSecrets | undefined {
  try {
    return JSON.parse(openSealed(key, sealed, hookPurpose(project_id, hook_id)));
  } catch {
    return undefined;
  }
}

const topicName = (arn = ''): string => arn.slice(arn.lastIndexOf(':') + 1);

const newSecret = (): string => `${secretPrefix}${randomBytes(32).toString('base64')}`;

/** Return the address of the console as the caller sees the service. Return undefined without a valid host. */
function consoleUrl({ header, requestPath }: Pick<Ambient, 'header' | 'requestPath'>): string | undefined {
  const scheme = /^\s*https\b/i.test(header('x-forwarded-proto') ?? '') ? 'https' : 'http';
  const base = URL.parse(`${scheme}://${header('host') ?? ''}`);
  if (base === null || base.username !== '' || base.pathname !== '/') return undefined;
  const path = pathOfHost(requestPath);
  const stage = path.slice(0, path.lastIndexOf('/projects/'));
  return `${base.origin}${stage}/console`;
}
