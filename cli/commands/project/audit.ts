import type { endpoint as listAudit } from '../../../functions/audit/list-audit.endpoint.ts';
import type { endpoint as listProjectAudit } from '../../../functions/audit/list-project-audit.endpoint.ts';
import type { RowOf } from '../../../shared/client/route.ts';
import { refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { daySeconds } from '../../login/sign-in.ts';
import { projectSession } from '../../projects/project-session.ts';
import { command } from '../command.ts';
import { choice, json, period, project, text } from '../flags.ts';

type Row = RowOf<typeof listAudit>;

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

export const auditCommand = command({
  brief: 'Show who changed what, newest first',
  help: `For the owner of the project and admins. --json prints one record a line.

Examples:
  mps audit --project digits --since 7d
  mps audit --all --since 30d --user ada --json > ada.ndjson`,
  flags: {
    project,
    all: choice('The whole deployment (admins only)'),
    since: { ...period, brief: 'How far back, such as 8h or 30d (default: 7d)' },
    user: text('NAME', 'Only this user'),
    operation: text('NAME', 'Only this operation, such as cancelExperiment'),
    json,
  },
  async run({ project: given, all, since, user: username, operation, json: isJson }) {
    refuseBoth({ all: all || undefined, project: given }, 'Choose one of --all and --project.');
    const query = {
      since: new Date(Date.now() - (since ?? 7 * daySeconds) * 1000).toISOString(),
      limit: 1000,
      ...(username !== undefined && { username }),
      ...(operation !== undefined && { operation }),
    };
    const rows = await found(this, given, all === true, query);
    const headings = ['TIME', 'USER', 'OPERATION', 'SUBJECT', 'CHANGE', 'FROM'];
    await this.printer.list(rows, isJson, headings, cells);
  },
});
