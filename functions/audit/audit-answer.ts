import * as z from 'zod';
import { Instant, Timestamp, Ulid } from '../../shared/core/formats.ts';
import { type AuditFilter, type AuditRecord, listAudit } from '../../shared/data/accounts/audit.ts';
import { Username } from '../../shared/data/accounts/user.ts';
import type { TableName, TableReader } from '../../shared/data/table/table.ts';
import { preferredMediaType } from '../../shared/http/body/accept.ts';
import { Cursor } from '../../shared/http/definition/cursor.ts';
import type { Ambient } from '../../shared/http/definition/endpoint-context.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { integer } from '../../shared/http/definition/parameters.ts';
import { Reply } from '../../shared/http/definition/reply.ts';

const ndjson = 'application/x-ndjson';

const Values = z.record(z.string(), z.unknown());

const AuditRow = z
  .object({
    audit_id: Ulid,
    at: Timestamp,
    operation: z
      .string()
      .describe('Name of the operation in this document; `mlflow` and the path for routes of MLflow’s API.'),
    project_id: Ulid.nullable(),
    subject: Values.describe('Ids and names that the operation is about; `created` is a new one.'),
    user_id: Ulid.nullable(),
    username: z.string().nullable().describe('Null if the caller had not signed in.'),
    ci: z
      .string()
      .nullable()
      .describe("Repository whose run in CI acted with the user's rights, as its issuer names it."),
    token_id: Ulid.nullable(),
    session_id: Ulid.nullable(),
    address: z.string(),
    request_id: z.string(),
    before: Values.nullable().describe('Values before the change, of fields that are no secrets.'),
    after: Values.nullable().describe('Values after the change, or of the request.'),
  })
  .meta({ id: 'AuditRow' });

export const auditOutput = { 200: content([ndjson], z.array(AuditRow)) };

export const auditDescription =
  'One record for each operation that changed something, in the transaction that changed it. An operation that programs repeat, such as recording metrics, has one for each experiment and token in an hour. Nothing changes a record; it expires by the option `auditDays`. By Accept also as NDJSON (`application/x-ndjson`). A page may have fewer rows than `limit`, even none: only one without a `Link` header is the last.';

/** Query parameters of the lists. */
export const auditQuery = {
  username: Username.optional().describe(
    'Only what this user did, and what their tokens and trusts in CI did.',
  ),
  operation: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Only this operation, such as `cancelExperiment`.'),
  since: Instant.optional().describe('Only from this time on, such as `2026-01-31T12:00:00Z`.'),
  until: Instant.optional().describe('Only up to this time.'),
  limit: integer(1, 1000).default(100).describe('Maximum number of rows.'),
  cursor: Cursor.optional(),
};

type Asked = Omit<AuditFilter, 'project_id'> & {
  project?: string | undefined;
  limit: number;
  cursor?: string | undefined;
};

/** Answer with a page of the records that match. */
export async function answerAudit(
  tables: readonly TableReader<TableName>[],
  { limit, cursor, ...asked }: Asked,
  project_id: string | undefined,
  { now, settings, header }: Pick<Ambient, 'now' | 'settings' | 'header'>,
) {
  const at = { limit, after: cursor, now: now(), days: settings.limits.auditDays };
  const page = await listAudit(tables, { ...asked, project_id }, at);
  const rows = page.items.map(showAudit);
  const next = page.next === undefined ? undefined : { after: page.next, query: { ...asked, limit } };
  const extras = { headers: { Vary: 'Accept' }, next, unreadable: page.unreadable ?? [] };
  if (preferredMediaType(header('accept'), ['application/json', ndjson]) !== ndjson)
    return Reply.json(rows, extras);
  return Reply.content(
    `${ndjson}; charset=utf-8`,
    rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    extras,
  );
}

const showAudit = ({ subject, before, after, ttl, ...row }: AuditRecord): z.input<typeof AuditRow> => ({
  ...row,
  subject: JSON.parse(subject),
  before: before === null ? null : JSON.parse(before),
  after: after === null ? null : JSON.parse(after),
});
