import { useEffect, useState } from 'preact/hooks';
import type { Experiment } from '../../api/answers.ts';
import type { KeptLine } from './log-buffer.ts';
import { LogLevels } from './log-levels.ts';
import { logPage } from './log-page.ts';

/** Maximum lines that a search finds. */
const maxFound = 5_000;

interface Found {
  lines: readonly KeptLine[];
  isDone: boolean;
  /** Whether it ended before the log, because it has found as many lines as a page shows. */
  isFull: boolean;
  error: unknown;
}

/** A search, and how to begin it again. */
export type LogSearch = Found & { retry(): void };

const nothing: Found = { lines: [], isDone: false, isFull: false, error: undefined };

/** Search the whole log at the service. Return undefined without words. */
export function useLogSearch(experiment: Experiment, node: number, words: string): LogSearch | undefined {
  const [{ key, ...found }, setFound] = useState<Found & { key: string }>({ ...nothing, key: '' });
  const [tries, setTries] = useState(0);
  const present = `${experiment.experiment_id} ${node} ${tries} ${words}`;
  useEffect(() => {
    if (words === '') return;
    const ending = new AbortController();
    const { signal } = ending;
    const lines: KeptLine[] = [];
    const show = (more: Partial<Found>) => {
      if (!signal.aborted) setFound({ ...nothing, ...more, lines: [...lines], key: present });
    };
    const search = async () => {
      const levels = new LogLevels();
      let next: string | undefined;
      do {
        const answer = await logPage(experiment, node, { search: words }, next, signal);
        for (const { number = 0, ...line } of answer.rows)
          lines.push({ ...line, level: levels.levelOf(line), number: number + 1 });
        next = answer.next;
        const isFull = next !== undefined && lines.length >= maxFound;
        if (isFull) next = undefined;
        show({ isFull, isDone: next === undefined });
      } while (next !== undefined && !signal.aborted);
    };
    search().catch((error: unknown) => show({ isDone: true, error }));
    return () => ending.abort();
  }, [present]);
  if (words === '') return undefined;
  return { ...(key === present ? found : nothing), retry: () => setTries((before) => before + 1) };
}
