import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { readCriterion } from '../../shared/data/projects/inferred-criterion.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { bytesMediaType } from '../../shared/http/definition/endpoint-input.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { isSystemMetric } from '../../shared/metrics/system-metric.ts';
import { requireLink, requireShared, sharedThrottle } from './shared-link.ts';

export const endpoint = defineEndpoint({
  name: 'readSharedChart',
  method: 'GET',
  path: '/links/shared/chart',
  summary: 'The curves of an experiment that a link shows',
  description: 'As SVG. For `Authorization: Link <session>`.',
  allow: 'anyone',
  throttle: sharedThrottle,
  needs: { records: readRecords, accounts: readUsers },
  input: { query: z.strictObject({ experiment: Ulid.describe('ID of the experiment.') }) },
  work: 'heavy: all points of an experiment in blocks',
  isHeavy: () => true,
  output: { 200: content(['image/svg+xml', bytesMediaType]) },
  problems: ['not-found'],

  async handle({ query }, context) {
    const { records } = context;
    const shared = await requireLink(context);
    const { shown, told } = await requireShared(context, shared, query.experiment);
    const { experiment, tracking } = shown;
    const names = [...tracking.metrics.keys()].filter((name) => !isSystemMetric(name) && told.shows(name));
    // Load the drawing code with the first chart.
    const { chartOf } = await import('../../shared/experiments/metric-chart.ts');
    const criterion = await readCriterion(records, shared.link.project_id);
    const head = { title: 'Metrics', notes: [] };
    const chart = await chartOf(records, experiment, criterion, { names }, head);
    return Reply.content('image/svg+xml; charset=utf-8', chart, {
      headers: { 'Cache-Control': 'no-store' },
    });
  },
});
