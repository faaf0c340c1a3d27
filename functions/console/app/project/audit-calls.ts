import type { ListPage } from '../../../../shared/client/client.ts';
import type { RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as listAudit } from '../../../audit/list-audit.endpoint.ts';
import type { endpoint as listProjectAudit } from '../../../audit/list-project-audit.endpoint.ts';
import { page } from '../api/calls.ts';

export type AuditRow = RowOf<typeof listAudit>;

const query = { limit: 50 };

/** Load a page of what was done in a project, or in the whole deployment. */
export const loadAudit = (project_id: string | undefined, next?: string): Promise<ListPage<AuditRow>> =>
  project_id === undefined
    ? page<typeof listAudit>('GET /audit', { query }, next)
    : page<typeof listProjectAudit>(
        'GET /projects/{project_id}/audit',
        { path: { project_id }, query },
        next,
      );
