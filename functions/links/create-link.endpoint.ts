import * as z from 'zod';
import { badRequest, notFound } from '../../shared/core/service-error.ts';
import { findExperiments } from '../../shared/data/experiments/experiment.ts';
import { createLink, type LinkSubject } from '../../shared/data/projects/link.ts';
import type { Project } from '../../shared/data/projects/project.ts';
import { requireReport } from '../../shared/data/projects/report.ts';
import { requireSweep } from '../../shared/data/sweeps/sweep.ts';
import { writeRecords } from '../../shared/data/table/needs.ts';
import type { TableReader } from '../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../shared/data/table/write-label.ts';
import { SearchText } from '../../shared/experiments/filter-rule.ts';
import { viewOrder } from '../../shared/experiments/search/view-order.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../shared/http/definition/parameters.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { LinkAnswer, LinkBody, showLink } from './link.ts';

export const endpoint = defineEndpoint({
  name: 'createLink',
  method: 'POST',
  path: '/projects/{project_id}/links',
  summary: 'Share a part of a project by a link',
  description:
    'Whoever has the link reads this part without an account, until the link ends or is revoked: status, times, params, metrics and curves, no logs, configurations, source or variables. Only this response has its secret; the address is `/console#/s/<secret>`. Browsers do not send the part after `#`.',
  allow: 'developer',
  project: 'owner',
  audit: { fields: ['subject', 'hide', 'anonymous', 'files', 'expires_in'] },
  needs: { records: writeRecords },
  input: { path: projectPath, body: fields(LinkBody) },
  output: { 201: LinkAnswer.extend({ secret: z.string() }).meta({ id: 'NewLink' }) },
  problems: ['not-found', 'conflict', 'too-large', 'unsupported-media-type'],
  // The response has a secret, so it is not kept. Nobody has the secret of a link whose response was lost.
  idempotent: { kind: 'signs', table: 'records' },

  async handle({ body: { subject: asked, expires_in, ...shown } }, context) {
    const { records, project, caller, newId, now, noteAudit } = context;
    const { project_id } = project;
    if (asked.kind === 'report') requireWhole(shown);
    const subject = await subjectOf(records, project, asked);
    const link_id = newId();
    noteAudit({ subject: { link_id } });
    const at = now();
    try {
      const { link, secret } = await createLink(records, {
        ...{ link_id, project_id, subject, ...shown },
        created_by: caller.user_id,
        created_at: at.toISOString(),
        expires_at: new Date(at.getTime() + expires_in * 1000).toISOString(),
      });
      return Reply.json({ ...showLink(link), secret }, { headers: { 'Cache-Control': 'no-store' } });
    } catch (error) {
      if (error instanceof ConditionFailedError) throw notFound('project', project_id);
      throw error;
    }
  },
});

/** Refuse settings that a report cannot follow: its text may name what its blocks would hide. */
function requireWhole({
  hide,
  anonymous,
  files,
}: Pick<z.output<typeof LinkBody>, 'hide' | 'anonymous' | 'files'>) {
  const message = 'is not for a report, whose text and pictures are shown as they are';
  const faults = Object.entries({ hide: hide.length > 0, anonymous, files }).filter(([, isSet]) => isSet);
  if (faults.length > 0) throw badRequest(faults.map(([name]) => ({ in: 'body', name, message })));
}

/** Return what a link shows. @throws ServiceError if the project does not have it */
async function subjectOf(
  records: TableReader<'records'>,
  { project_id, views = [] }: Project,
  asked: z.output<typeof LinkBody>['subject'],
): Promise<LinkSubject> {
  if (asked.kind === 'sweep') {
    await requireSweep(records, project_id, asked.sweep_id);
    return asked;
  }
  if (asked.kind === 'report') {
    const { report } = await requireReport(records, { project_id, report_id: asked.report_id });
    const { experiments, sweeps } = report;
    return { ...asked, experiments, sweeps, views: views.filter(({ name }) => report.views.includes(name)) };
  }
  if (asked.kind === 'view') {
    const view = views.find(({ name }) => name === asked.name);
    if (view === undefined) throw notFound('view', asked.name);
    const address = new URLSearchParams(view.address);
    const filter = (address.get('filter') ?? '').trim();
    const { error } = SearchText.safeParse(filter);
    if (error !== undefined)
      throw badRequest([
        {
          in: 'body',
          name: 'subject.name',
          message: `names a view whose filter ${error.issues[0]?.message}`,
        },
      ]);
    return { kind: 'view', name: view.name, filter, order: viewOrder(address.get('sort') ?? '') };
  }
  const ids = asked.kind === 'experiment' ? [asked.experiment_id] : [...new Set(asked.experiment_ids)];
  const experiments = await findExperiments(records, project_id, ids);
  const missing = ids.find((id) => !experiments.some(({ experiment_id }) => experiment_id === id));
  if (missing !== undefined) throw notFound('experiment', missing);
  return { kind: asked.kind, experiment_ids: ids };
}
