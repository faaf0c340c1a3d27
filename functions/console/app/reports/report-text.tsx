import type { ComponentChildren } from 'preact';
import { parseReport, type ReportBlock } from '../../../../shared/reports/parse-report.ts';
import { Markdown } from '../ui/text/markdown.tsx';
import { ReportBlockView, UnsavedBlock } from './report-block.tsx';
import type { BlockReader } from './report-calls.ts';

/** A report as its readers see it: Markdown, with what its blocks show between. */
export function ReportText({
  title,
  text,
  version,
  reader,
  actions,
  numberOf,
}: {
  title: string;
  text: string;
  version: string;
  reader: BlockReader;
  /** What a writer can do with a block. */
  actions?: ((block: ReportBlock) => ComponentChildren) | undefined;
  /** Number of a block in the stored report, while its text changes. */
  numberOf?: (block: ReportBlock) => number | undefined;
}) {
  let number = 0;
  return (
    <article class="report" aria-label={title}>
      {parseReport(text).parts.map((part, index) => {
        if ('markdown' in part) return <Markdown key={index} text={part.markdown} top={2} />;
        number += 1;
        const { block } = part;
        const key = `${number} ${block.text}`;
        const stored = numberOf === undefined ? number : numberOf(block);
        if (stored === undefined) return <UnsavedBlock key={key} block={block} />;
        return (
          <ReportBlockView key={key} {...{ block, version, reader }} number={stored}>
            {actions?.(block)}
          </ReportBlockView>
        );
      })}
    </article>
  );
}
