import * as z from 'zod';
import { readUsers } from '../../shared/data/accounts/needs.ts';
import { readRecords } from '../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { integer } from '../../shared/http/definition/parameters.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { maxBlocks } from '../../shared/reports/parse-report.ts';
import { BlockAnswer } from '../../shared/reports/read-block.ts';
import { requireLink, sharedThrottle } from './shared-link.ts';
import { readSharedBlock } from './shared-report.ts';

export const endpoint = defineEndpoint({
  name: 'readSharedBlock',
  method: 'GET',
  path: '/links/shared/blocks/{block}',
  summary: 'What a block of a report shows that a link shows',
  description: 'For `Authorization: Link <session>`.',
  allow: 'anyone',
  throttle: sharedThrottle,
  needs: { records: readRecords, accounts: readUsers },
  input: { path: z.strictObject({ block: integer(1, maxBlocks).describe('Its number, from 1.') }) },
  work: 'heavy: a search of one project; 40 curves in blocks',
  isHeavy: () => true,
  output: { 200: BlockAnswer },
  problems: ['not-found'],

  async handle({ path: { block } }, context) {
    const answer = await readSharedBlock(context, await requireLink(context), block);
    return Reply.json(answer, { headers: { 'Cache-Control': 'no-store' } });
  },
});
