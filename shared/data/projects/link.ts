import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { Sha256, Timestamp, Ulid, ulidPattern } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type TableWriter } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { projectExists } from './project.ts';
import { TableView } from './table-view.ts';

/** What a link shows. */
const LinkSubject = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['experiment', 'comparison']), experiment_ids: z.array(Ulid) }),
  z.object({ kind: z.literal('sweep'), sweep_id: Ulid }),
  /** A view with the filter and order that it had when the link was made. */
  z.object({ kind: z.literal('view'), name: z.string(), filter: z.string(), order: z.string() }),
  /** A report, with what it named when the link was made: its experiments, its sweeps, and its views as they were. */
  z.object({
    kind: z.literal('report'),
    report_id: Ulid,
    experiments: z.array(Ulid),
    sweeps: z.array(Ulid),
    views: z.array(TableView),
  }),
]);
export type LinkSubject = z.infer<typeof LinkSubject>;

const link = recordType('link', () =>
  z.object({
    link_id: Ulid,
    project_id: Ulid,
    /** SHA-256 of its secret. */
    hash: Sha256,
    subject: LinkSubject,
    /** Names of params that it does not show. */
    hide: z.array(z.string()),
    anonymous: z.boolean(),
    /** Whether it shows artifacts. */
    files: z.boolean(),
    created_by: Ulid,
    created_at: Timestamp,
    expires_at: Timestamp,
    /** Epoch seconds after which DynamoDB may remove the item. */
    ttl: z.number().int(),
  }),
);
/** Address that shows a part of a project to whoever has it. */
export type Link = z.infer<typeof link.schema>;

/** Partition of the links of a project. No job's role reaches it. */
export const linksPartition = (project_id: string): string => `LINKS#${project_id}`;
const linkKey = (project_id: string, link_id: string): Key => ({
  pk: linksPartition(project_id),
  sk: link_id,
});

const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/**
 * Store a new link. Only this result has its secret, of 256 random bits.
 * @throws ConditionFailedError if the project is gone
 */
export async function createLink(
  records: TableWriter<'records'>,
  value: Omit<Link, 'hash' | 'ttl'>,
): Promise<{ link: Link; secret: string }> {
  const { project_id, link_id, expires_at } = value;
  const random = randomBytes(32).toString('base64url');
  const ttl = Math.ceil(Date.parse(expires_at) / 1000);
  const item = { ...value, hash: digest(random), ttl };
  const put = link.item(linkKey(project_id, link_id), item);
  await records.write(projectExists(project_id), { put, if: { exists: false } });
  return { link: item, secret: `${project_id}.${link_id}.${random}` };
}

/** Return a page of the links of a project that have not ended, newest first. */
export async function listLinks(
  records: TableReader<'records'>,
  project_id: string,
  now: Date,
  page: { limit: number; after: string | undefined },
): Promise<Page<Link>> {
  const pk = linksPartition(project_id);
  const links = readPage(await records.query({ pk, descending: true, ...page }), link.parse);
  return { ...links, items: links.items.filter(({ expires_at }) => isAlive({ expires_at }, now)) };
}

/** Revoke a link at once. Return false if it does not exist. */
export const removeLink = (
  records: TableWriter<'records'>,
  project_id: string,
  link_id: string,
): Promise<boolean> =>
  tryWrite(records.write({ delete: linkKey(project_id, link_id), if: { exists: true } }));

const isAlive = ({ expires_at }: Pick<Link, 'expires_at'>, now: Date): boolean =>
  Date.parse(expires_at) > now.getTime();

const secretPattern = new RegExp(`^(${ulidPattern})\\.(${ulidPattern})\\.([A-Za-z0-9_-]{43})$`);

/** Maximum characters of a secret or of a session. */
export const credentialMaxLength = 150;

/** Return the link of a secret; undefined for an unknown, revoked or ended one. */
export async function findLinkOf(
  records: TableReader<'records'>,
  secret: string,
  now: Date,
): Promise<Link | undefined> {
  const [, project_id = '', link_id = '', random = ''] = secretPattern.exec(secret) ?? [];
  const known = await findLink(records, project_id, link_id, now);
  return known && isSame(known.hash, digest(random)) ? known : undefined;
}

async function findLink(
  records: TableReader<'records'>,
  project_id: string,
  link_id: string,
  now: Date,
): Promise<Link | undefined> {
  if (link_id === '') return undefined;
  const item = await records.get(linkKey(project_id, link_id));
  const known = item && link.parse(item);
  return known && isAlive(known, now) ? known : undefined;
}

const isSame = (digest: string, other: string): boolean =>
  digest.length === other.length && timingSafeEqual(Buffer.from(digest), Buffer.from(other));

/** Seconds for which the session of a page is valid. */
const sessionSeconds = 12 * 60 * 60;

/**
 * Begin a session that reads what a link shows. It is signed with the digest of the secret, so it is stored nowhere, and the
 * end of the link ends it at the next request.
 */
export function linkSession({ project_id, link_id, hash, expires_at }: Link, now: Date) {
  const until = Math.min(now.getTime() + sessionSeconds * 1000, Date.parse(expires_at));
  const claim = `${project_id}.${link_id}.${until}`;
  return { session: `${claim}.${signature(claim, hash)}`, until: new Date(until) };
}

const signature = (claim: string, hash: string): string =>
  createHmac('sha256', Buffer.from(hash, 'hex')).update(claim).digest('base64url');

const sessionPattern = new RegExp(`^(${ulidPattern})\\.(${ulidPattern})\\.(\\d{13})\\.([A-Za-z0-9_-]{43})$`);

/** Return the link of a session; undefined if either has ended. */
export async function findLinkOfSession(
  records: TableReader<'records'>,
  session: string,
  now: Date,
): Promise<Link | undefined> {
  const [, project_id = '', link_id = '', until = '0', signed = ''] = sessionPattern.exec(session) ?? [];
  if (Number(until) <= now.getTime()) return undefined;
  const known = await findLink(records, project_id, link_id, now);
  if (known === undefined) return undefined;
  return isSame(signed, signature(`${project_id}.${link_id}.${until}`, known.hash)) ? known : undefined;
}
