import * as z from 'zod';
import { Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { readUsernames } from '../../../shared/data/accounts/user.ts';
import {
  type Report,
  ReportText,
  ReportTitle,
  requireReport,
  textMaxBytes,
} from '../../../shared/data/projects/report.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { digestOfBlock } from '../../../shared/reports/block-data.ts';
import { blocksOf, parseReport } from '../../../shared/reports/parse-report.ts';

export const reportPath = projectPath.extend({ report_id: Ulid.describe('ID of the report.') });

export const reportFields = {
  title: ReportTitle.describe('Title of the page.'),
  text: ReportText.describe(
    'Markdown. Fenced code whose info is `mps` and a kind is a block: `value`, `table`, `chart`, `picture`, `sweep` or `receipt`, with a line `key: value` for each setting. With `frozen: true` it keeps its data of this time.',
  ),
};

/** Maximum bytes of a request. JSON writes a character in at most six bytes. */
export const reportBodyBytes = 6 * textMaxBytes + 8192;

export const ReportHead = z
  .object({
    report_id: Ulid,
    title: z.string(),
    updated_by: z.string().nullable().describe('Name of the user; null once that user is deleted.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'ReportHead' });

export const ReportAnswer = ReportHead.extend({
  text: z.string(),
  blocks: z
    .array(z.object({ kind: z.string(), title: z.string().nullable(), frozen_at: Timestamp.nullable() }))
    .describe('Its blocks in their order. GET …/blocks/{block}/data has what they show.'),
}).meta({ id: 'Report' });

/** Build the response for a report without its text. */
export const showHead = (
  { report_id, title, updated_by, created_at, updated_at }: Report,
  usernames: ReadonlyMap<string, string>,
): z.input<typeof ReportHead> => ({
  ...{ report_id, title, created_at, updated_at },
  updated_by: usernames.get(updated_by) ?? null,
});

/** Answer with the current state of a report. */
export async function answerReport(
  { records, accounts }: { records: TableReader<'records'>; accounts: TableReader<'accounts'> },
  ids: { project_id: string; report_id: string },
): Promise<Reply<z.input<typeof ReportAnswer>>> {
  const { report, text } = await requireReport(records, ids);
  const blocks = blocksOf(parseReport(text).parts).map((block) => ({
    kind: block.kind,
    title: block.title ?? null,
    frozen_at: (block.isFrozen && report.frozen[digestOfBlock(block)]) || null,
  }));
  const usernames = await readUsernames(accounts, [report.updated_by]);
  return Reply.json({ ...showHead(report, usernames), text, blocks }, { version: report.version });
}
