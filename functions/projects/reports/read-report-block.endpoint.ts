import { notFound } from '../../../shared/core/service-error.ts';
import { readUsers } from '../../../shared/data/accounts/needs.ts';
import { requireReport } from '../../../shared/data/projects/report.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { blocksOf, maxBlocks, parseReport } from '../../../shared/reports/parse-report.ts';
import { BlockAnswer, readBlock } from '../../../shared/reports/read-block.ts';
import { reportPath } from './report.ts';

export const endpoint = defineEndpoint({
  name: 'readReportBlock',
  method: 'GET',
  path: '/projects/{project_id}/reports/{report_id}/blocks/{block}/data',
  summary: 'What a block of a report shows',
  description:
    'The data of the time at which it was frozen, else the present ones. A chart has at most 10 experiments and 150 points of each curve, a table 50 experiments.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords, accounts: readUsers },
  input: { path: reportPath.extend({ block: integer(1, maxBlocks).describe('Its number, from 1.') }) },
  work: 'heavy: a search of one project; 40 curves in blocks',
  isHeavy: () => true,
  output: { 200: BlockAnswer },
  problems: ['not-found'],

  async handle({ path: { block: number, ...ids } }, context) {
    const { report, text } = await requireReport(context.records, ids);
    const block = blocksOf(parseReport(text).parts)[number - 1];
    if (block === undefined) throw notFound('block', String(number));
    return readBlock(context, context.project, report, block);
  },
});
