import * as z from 'zod';
import { Ulid } from '../../shared/core/formats.ts';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { listArtifacts } from '../../shared/data/experiments/artifact.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { answerList, paging } from '../../shared/http/definition/pagination.ts';
import { linkIsGone, requireLink, requireShared, sharedThrottle } from './shared-link.ts';

export const endpoint = defineEndpoint({
  name: 'listSharedFiles',
  method: 'GET',
  path: '/links/shared/files',
  summary: 'The artifacts of an experiment that a link shows',
  description: 'Only of a link with `files`. For `Authorization: Link <session>`.',
  allow: 'anyone',
  throttle: sharedThrottle,
  needs: { records: readRecords, accounts: readUsers },
  input: {
    query: z.strictObject({ experiment: Ulid.describe('ID of the experiment.'), ...paging }),
  },
  work: 'heavy: a search of one project; a page of files',
  isHeavy: () => true,
  output: {
    200: z.array(z.object({ path: z.string(), size: z.number().int(), media_type: z.string() })),
  },
  problems: ['not-found'],

  async handle({ query }, context) {
    const { records } = context;
    const shared = await requireLink(context);
    if (!shared.link.files) throw linkIsGone();
    const { told } = await requireShared(context, shared, query.experiment);
    const reply = await answerList(query, {
      fetch: async (page) => {
        const { items, ...rest } = await listArtifacts(records, query.experiment, page);
        return { ...rest, items: items.filter(({ path }) => told.shows(path)) };
      },
      keyOf: ({ path }) => path,
      show: ({ path, size, media_type }) => ({ path, size, media_type }),
    });
    return reply.with({ 'Cache-Control': 'no-store' });
  },
});
