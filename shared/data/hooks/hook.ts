import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { within } from '../../core/needs.ts';
import { projectExists } from '../projects/project.ts';
import { readRecords } from '../table/needs.ts';
import { Bytes, ofVersion, recordType, unreadableVersion } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';

/** Events that a hook can ask for. */
export const HookEvent = z.enum([
  'experiment.started',
  'experiment.succeeded',
  'experiment.failed',
  'experiment.cancelled',
  'experiment.stopped',
  'metric.rule',
  'strategy.succeeded',
  'strategy.failed',
  'model.version',
  'sweep.ended',
  'schedule.paused',
  'budget.warning',
  'budget.reached',
  'export.ready',
  'serving.failing',
]);
export type HookEvent = z.infer<typeof HookEvent>;

/**
 * Formats of messages: the Standard Webhooks specification, what three chat services take, and a mail to the addresses
 * of the deployment.
 */
export const HookFormat = z.enum(['standard', 'slack', 'discord', 'teams', 'mail']);
export type HookFormat = z.infer<typeof HookFormat>;

const storedHook = () =>
  z.object({
    /** Id of its deliveries. A later hook of the same name has another id. */
    hook_id: Ulid,
    name: z.string(),
    /** Encrypted {@link HookSecrets}. */
    sealed: Bytes,
    /** Host and port of the URL: the only part that is not a secret. */
    host: z.string(),
    format: HookFormat,
    events: z.array(HookEvent),
    /** Filter of experiments in the grammar of searches. Null for all. */
    filter: z.string().nullable(),
    /** Address of the console at which its links point. Null if the request named no host. */
    console_url: z.string().nullable(),
    /** Sentence that says why it is disabled. Null while it is in use. */
    disabled: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  });
/** Address to which a project sends messages about events. */
export type Hook = z.infer<ReturnType<typeof storedHook>>;

/** The parts of a hook that nobody reads again. */
export interface HookSecrets {
  /** Empty for the format `mail`: its topic is that of the deployment. */
  url: string;
  /** Signing secret of the format `standard`: `whsec_` and Base64. Null for other formats. */
  secret: string | null;
}

const hooks = recordType('hooks', () =>
  z.object({
    project_id: Ulid,
    /** In the order of their names. */
    hooks: z.array(storedHook()),
    /** Highest version of a deleted hook, so version numbers of a name are never reused. */
    versions_before: z.number().int(),
    version: z.number().int(),
  }),
);
/** Hooks of a project. One record holds all, so one read finds those that an event concerns. */
export type Hooks = z.infer<typeof hooks.schema>;

/** Maximum number of hooks of a project. One transaction records the deliveries of an event to all of them. */
export const maxHooks = 20;

/** Return the partition of a project's hooks. No role of a job reaches it. */
export const hooksPartition = (project_id: string): string => `HOOKS#${project_id}`;
const hooksKey = (project_id: string): Key => ({ pk: hooksPartition(project_id), sk: 'HOOKS' });

/** Return the encryption purpose of a hook's secrets. They decrypt only for this hook of this project. */
export const hookPurpose = (project_id: string, hook_id: string): string =>
  `hook ${hook_id} of ${project_id}`;

const none = (project_id: string): Hooks => ({ project_id, hooks: [], versions_before: 0, version: 1 });

/** Return the hooks of a project. Return an empty list if it never had any. */
export async function readHooks(records: TableReader<'records'>, project_id: string): Promise<Hooks> {
  const item = await records.get(hooksKey(project_id));
  return item === undefined ? none(project_id) : hooks.parse(item);
}

/** Return the hooks that will be replaced, even if they are unreadable. */
export async function readHooksToReplace(
  records: TableReader<'records'>,
  project_id: string,
): Promise<Hooks & { exists: boolean }> {
  const item = await records.get(hooksKey(project_id));
  if (item === undefined) return { ...none(project_id), exists: false };
  return { ...hooks.salvage(item, { ...none(project_id), version: unreadableVersion }), exists: true };
}

/**
 * Build the writes that replace the hooks of a project, and the events that they ask for.
 * @param previous version that was read
 */
export const replaceHooks = (value: Hooks, previous: { version: number; exists: boolean }): Write[] => [
  projectExists(value.project_id),
  {
    put: hooks.item(hooksKey(value.project_id), value),
    if: previous.exists ? ofVersion(previous.version) : { exists: false },
  },
  { put: asked.item(askedKey(value.project_id), { events: askedEvents(value) }) },
];

const askedEvents = (value: Hooks): HookEvent[] => [
  ...new Set(value.hooks.flatMap(({ events, disabled }) => (disabled === null ? events : []))),
];

/**
 * Disable a hook of this id, if it is still in use.
 * @param reason a sentence for people
 * @throws ConditionFailedError if another change came between
 */
export async function disableHook(
  records: TableWriter<'records'>,
  { project_id, hook_id }: { project_id: string; hook_id: string },
  reason: string,
  now: Date,
): Promise<void> {
  const present = await readHooks(records, project_id);
  const found = present.hooks.find((hook) => hook.hook_id === hook_id);
  if (found === undefined || found.disabled !== null) return;
  const disabled = {
    ...found,
    disabled: reason,
    updated_at: now.toISOString(),
    version: found.version + 1,
  };
  const changed = {
    ...present,
    hooks: present.hooks.map((hook) => (hook === found ? disabled : hook)),
    version: present.version + 1,
  };
  await records.write(...replaceHooks(changed, { version: present.version, exists: true }));
}

/** Events that any hook of the project asks for. */
const asked = recordType('hook-events', () => z.object({ events: z.array(z.string()) }));

/** Return the partition that says which events a project's hooks ask for. Jobs read it, and it has no secrets. */
export const hookEventsPartition = (project_id: string): string => `HOOK_EVENTS#${project_id}`;
const askedKey = (project_id: string): Key => ({ pk: hookEventsPartition(project_id), sk: 'HOOK_EVENTS' });

/** Key patterns of the events that hooks ask for, for the policy of a role. */
export const hookEventPatterns = ['HOOK_EVENTS#*'] as const;

/** Read access of a job to the events that hooks ask for. */
export const readHookEvents = /* @__PURE__ */ within(readRecords, { partitions: hookEventPatterns });

/** Whether a hook of the project asks for this event. */
export async function isAskedFor(
  records: TableReader<'records'>,
  project_id: string,
  event: HookEvent,
): Promise<boolean> {
  const item = await records.get(askedKey(project_id));
  return item !== undefined && asked.parse(item).events.includes(event);
}
