import { useEffect, useState } from 'preact/hooks';
import type { Experiment } from '../../api/answers.ts';
import { useLive } from '../../api/use-live.ts';
import { Empty } from '../../ui/states/empty.tsx';
import { Loaded } from '../../ui/states/loaded.tsx';
import type { KeptLine } from './log-buffer.ts';
import { LogLevels } from './log-levels.ts';
import { LogLines } from './log-lines.tsx';
import { logPage } from './log-page.ts';

/** Lines of a window, and those of them before the line for which it opens. */
const linesOfWindow = 1_000;
const linesBefore = 300;

/** Lines of a long log around one, `shown`, whose number counts from 1. */
export function LogWindow({
  experiment,
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
  const live = useLive(`log-window/${experiment.experiment_id}/${node}/${first}`, (signal) =>
    loadWindow(experiment, node, { first, shown }, signal),
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
  experiment: Experiment,
  node: number,
  { first, shown }: { first: number; shown: number },
  signal: AbortSignal,
): Promise<KeptLine[]> {
  const levels = new LogLevels();
  const lines: KeptLine[] = [];
  let next: string | undefined;
  let isEnd = false;
  do {
    const answer = await logPage(experiment, node, { line: first, limit: linesOfWindow }, next, signal);
    // Before its first line an answer without lines is a part of the way; after it, the end of a log that grows.
    isEnd = lines.length > 0 && answer.rows.length === 0;
    for (const line of answer.rows)
      lines.push({ ...line, level: levels.levelOf(line), number: first + lines.length + 1 });
    next = answer.next;
    // Long lines come in several answers.
  } while (next !== undefined && !isEnd && first + lines.length < shown);
  return lines;
}
