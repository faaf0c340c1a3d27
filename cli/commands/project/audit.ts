import { buildCommand } from '@stricli/core';
import type { endpoint as listAudit } from '../../../functions/audit/list-audit.endpoint.ts';
import type { endpoint as listProjectAudit } from '../../../functions/audit/list-project-audit.endpoint.ts';
import type { RowOf } from '../../../shared/client/route.ts';
import { refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { daySeconds } from '../../login/sign-in.ts';
import { projectSession } from '../../projects/project-session.ts';
import { choice, json, period, project, text, verbose } from '../flags.ts';

type Row = RowOf<typeof listAudit>;

async function audit(
  this: CliContext,
  { project: given, all, since, user: username, operation, json: isJson }: Flags,
): Promise<void> {
  refuseBoth({ all: all || undefined, project: given }, 'Choose one of --all and --project.');
  const query = {
    since: new Date(Date.now() - (since ?? 7 * daySeconds) * 1000).toISOString(),
    limit: 1000,
    ...(username !== undefined && { username }),
    ...(operation !== undefined && { operation }),
  };
  const rows: string[][] = [];
  for await (const row of await found(this, given, all === true, query)) {
    if (isJson) this.process.stdout.write(`${JSON.stringify(row)}\n`);
    else rows.push(cells(row));
  }
  if (!isJson) this.printer.table(['TIME', 'USER', 'OPERATION', 'SUBJECT', 'CHANGE', 'FROM'], rows);
}

type Query = { since: string; limit: number; username?: string; operation?: string };

async function found(context: CliContext, given: string | undefined, isAll: boolean, query: Query) {
  if (isAll) return (await connect(context.env)).client.rows<typeof listAudit>('GET /audit', { query });
  const { client, path } = await projectSession(context, given);
  return client.rows<typeof listProjectAudit>('GET /projects/{project_id}/audit', { path, query });
}

const cells = ({ at, username, ci, operation, subject, before, after, address }: Row): string[] => [
  at.slice(0, 19).replace('T', ' '),
  ci === null ? (username ?? '-') : `${username ?? '-'} (ci:${ci})`,
  operation,
  Object.values(subject).join(' '),
  changeText(before, after),
  address,
];

/** Return the changed values, such as `role: viewer → developer`. */
function changeText(before: Row['before'], after: Row['after']): string {
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.entries(after ?? before ?? {})
    .map(([name, value]) => {
      const former = before?.[name];
      if (after === null) return `${name}: ${shown(value)} →`;
      return former === undefined
        ? `${name}: ${shown(value)}`
        : `${name}: ${shown(former)} → ${shown(value)}`;
    })
    .join(', ');
}

export const auditCommand = buildCommand({
  func: audit,
  parameters: {
    flags: {
      project,
      all: choice('The whole deployment (admins only)'),
      since: { ...period, brief: 'How far back, such as 8h or 30d (default: 7d)' },
      user: text('NAME', 'Only this user'),
      operation: text('NAME', 'Only this operation, such as cancelExperiment'),
      json,
      verbose,
    },
    aliases: { p: 'project' },
  },
  docs: {
    brief: 'Show who changed what, newest first',
    fullDescription: `For the owner of the project and admins. --json prints one record a line.

Examples:
  mps audit --project digits --since 7d
  mps audit --all --since 30d --user ada --json > ada.ndjson`,
  },
});

interface Flags {
  project?: string;
  all?: boolean;
  since?: number;
  user?: string;
  operation?: string;
  json?: boolean;
  verbose?: boolean;
}
