import { useEffect, useState } from 'preact/hooks';
import type { endpoint as readLogs } from '../../../../experiments/records/read-logs.endpoint.ts';
import type { Experiment } from '../../api/answers.ts';
import { page } from '../../api/calls.ts';
import { useLive } from '../../api/use-live.ts';
import { Empty } from '../../ui/states/empty.tsx';
import { Loaded } from '../../ui/states/loaded.tsx';
import type { KeptLine } from './log-buffer.ts';
import { LogLevels } from './log-levels.ts';
import { LogLines } from './log-lines.tsx';

/** Lines of a window, and those of them before the line for which it opens. */
const linesOfWindow = 1_000;
const linesBefore = 300;

/** Lines of a long log around one, `shown`, whose number counts from 1. */
export function LogWindow({
  experiment: { project_id, experiment_id },
  node,
  words,
  shown,
}: {
  experiment: Experiment;
  node: number;
  words: string;
  shown: number;
}) {
  const [first, setFirst] = useState(() => firstFor(shown));
  const live = useLive(`log-window/${experiment_id}/${node}/${first}`, (signal) =>
    loadWindow({ project_id, experiment_id }, node, { first, shown }, signal),
  );
  const last = first + Math.max(live.data?.length ?? 0, 1);
  useEffect(() => {
    if (shown <= first || shown > last) setFirst(firstFor(shown));
  }, [shown]);
  return (
    <Loaded live={live} rows={8} what="The lines could not be loaded">
      {(lines) =>
        lines.length === 0 ? (
          <Empty title={`The log has no line ${shown.toLocaleString('en')}`} icon="file">
            <p>It ends before.</p>
          </Empty>
        ) : (
          <LogLines lines={lines} words={words} shown={shown} />
        )
      }
    </Loaded>
  );
}

/** Number of the line before a window. */
const firstFor = (shown: number): number => Math.max(0, shown - 1 - linesBefore);

async function loadWindow(
  path: { project_id: string; experiment_id: string },
  node: number,
  { first, shown }: { first: number; shown: number },
  signal: AbortSignal,
): Promise<KeptLine[]> {
  const query = { line: first, limit: linesOfWindow, ...(node > 0 && { node }) };
  const levels = new LogLevels();
  const lines: KeptLine[] = [];
  let next: string | undefined;
  let isEnd = false;
  do {
    const answer = await page<typeof readLogs>(
      'GET /projects/{project_id}/experiments/{experiment_id}/logs',
      { path, query, signal },
      next,
    );
    // Before its first line an answer without lines is a part of the way; after it, the end of a log that grows.
    isEnd = lines.length > 0 && answer.rows.length === 0;
    for (const line of answer.rows)
      lines.push({ ...line, level: levels.levelOf(line), number: first + lines.length + 1 });
    next = answer.next;
    // Long lines come in several answers.
  } while (next !== undefined && !isEnd && first + lines.length < shown);
  return lines;
}
