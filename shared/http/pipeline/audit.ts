import { Ulid } from '../../core/formats.ts';
import { newId } from '../../core/new-id.ts';
import { type AuditRecord, appendAudit, hourlyId } from '../../data/accounts/audit.ts';
import { type AuditEntry, auditedWriters } from '../../data/table/audited-writer.ts';
import type { TableName } from '../../data/table/table.ts';
import { isAudited } from '../definition/definition.ts';
import type { AuditFacts } from '../definition/endpoint-context.ts';
import type { Exchange } from '../definition/middleware.ts';
import { isWriter } from './idempotency.ts';

type Services = Readonly<Record<string, unknown>>;

/** The audit record of a request. */
interface RequestAudit {
  /** Return the services of the endpoint with tables that append the record. */
  services(services: Services): Services;
  note(facts: AuditFacts): void;
}

/**
 * Begin the audit record of a request. The tables that `handle` gets add it to the first transaction of the operation, so no
 * endpoint can forget it, and a request that writes nothing has none. Undefined for a request that only reads.
 */
export function beginAudit(exchange: Exchange): RequestAudit | undefined {
  const { endpoint, event } = exchange;
  const isRead = event.httpMethod === 'GET' || event.httpMethod === 'HEAD';
  if (!isAudited(endpoint) || (endpoint.method === 'ANY' && isRead)) return undefined;
  let facts: AuditFacts = { isHourly: endpoint.audit?.hourly ?? false };
  let record: AuditRecord | undefined;
  const entry: AuditEntry = {
    append(table: TableName) {
      record = recordOf(exchange, facts, record?.audit_id);
      return known.has(record.audit_id) ? undefined : appendAudit(table, record);
    },
    appended() {
      if (record !== undefined && facts.isHourly) keepKnown(record.audit_id);
    },
  };
  const audited = auditedWriters(entry);
  return {
    services: (services) =>
      Object.fromEntries(
        Object.entries(services).map(([name, service]) => [
          name,
          isWriter(service) ? audited(service) : service,
        ]),
      ),
    note(more) {
      facts = { ...facts, ...more, subject: { ...facts.subject, ...more.subject } };
    },
  };
}

/** Hourly records that this process knows to exist. */
const known = new Set<string>();
const maxKnown = 10_000;

function keepKnown(audit_id: string): void {
  if (known.size >= maxKnown) known.clear();
  known.add(audit_id);
}

function recordOf(exchange: Exchange, facts: AuditFacts, audit_id: string | undefined): AuditRecord {
  const { endpoint, event, requestId, caller, input, platform } = exchange;
  const { path, ...given } = input ?? {};
  const { project_id, ...ids } = (path ?? {}) as Readonly<Record<string, string>>;
  const { by = caller, isHourly = false, operation = endpoint.name } = facts;
  const now = new Date();
  // The files of a run are many, and one record stands for them.
  const { path: file, mlflow_path, ...names } = { ...ids, ...facts.subject };
  const subject = JSON.stringify({ ...names, ...(file !== undefined && !isHourly && { path: file }) });
  const { token_id = null, session_id = null } = caller ?? {};
  const about = facts.project_id ?? project_id ?? null;
  const fields = endpoint.audit?.fields ?? [];
  const after = { ...picked(fields, Object.assign({}, ...Object.values(given))), ...facts.after };
  // Of a record that was changed, only what the change names.
  const changed = Object.keys(after).length === 0 ? fields : Object.keys(after);
  const before = picked(changed, facts.before ?? {});
  const hourly = [operation, about, subject, by?.user_id, token_id, session_id];
  return {
    audit_id: audit_id ?? (isHourly ? hourlyId(hourly, now) : newId(now.getTime())),
    at: now.toISOString(),
    operation,
    project_id: about,
    subject,
    user_id: by?.user_id ?? null,
    username: by?.username ?? null,
    ci: (facts.ci ?? caller?.ci)?.name ?? null,
    token_id,
    session_id,
    address: event.requestContext.identity.sourceIp,
    request_id: requestId,
    before: textOf(before),
    after: textOf(after),
    ttl: Math.ceil(now.getTime() / 1000) + platform.settings.limits.auditDays * daySeconds,
  };
}

const daySeconds = 24 * 60 * 60;

/** Names of parameters have hyphens, those of records underscores. */
const picked = (fields: readonly string[], values: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => fields.includes(name) || fields.includes(name.replaceAll('_', '-')))
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.replaceAll('-', '_'), value]),
  );

/** Return values as JSON, each shortened; null if there are none. */
function textOf(values: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [name, shortened(value)])));
}

function shortened(value: unknown): unknown {
  // Ids of what was deleted are of no use in part. Requests bound their number.
  if (Array.isArray(value) && value.every(isId)) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === undefined || text.length <= maxValue) return value;
  return `${text.slice(0, maxValue)}…`;
}

const isId = (value: unknown): boolean => Ulid.safeParse(value).success;

/** Characters of a value. A record stays below a kilobyte or two, a write unit each. */
const maxValue = 300;
