import { useMemo, useRef } from 'preact/hooks';
import type { MediaItem } from '../api/media.ts';
import { drawnSteps, type StepHistogram } from '../charts/values/histogram-grid.ts';
import { HistogramView } from '../charts/values/histogram-view.tsx';
import type { PictureLoader } from './picture-loader.ts';
import { readHistogram } from './read-histogram.ts';

/** Return the items that are drawn. The files of the others are not loaded. */
export const drawnItems = (items: readonly MediaItem[]): MediaItem[] => drawnSteps(items);

/** Histograms of one name over steps, as far as their files are loaded. */
export function HistogramTile({
  label,
  experiment_id,
  items,
  loader,
}: {
  label: string;
  experiment_id: string;
  items: readonly MediaItem[];
  loader: PictureLoader;
}) {
  /** By path; null for a file that is no histogram. */
  const known = useRef(new Map<string, StepHistogram | null>());
  const files = useMemo(() => drawnItems(items), [items]);
  const answers = loader.answers.value;
  const { histograms, fault } = useMemo(() => {
    for (const [index, { path, step }] of files.entries()) {
      const read = loader.get({ experiment_id, path });
      if (read === undefined || known.current.has(path)) continue;
      const text = 'url' in read ? textOf(read.url) : undefined;
      known.current.set(path, (text === undefined ? undefined : readHistogram(text, step ?? index)) ?? null);
    }
    const all = files.flatMap(({ path }) => known.current.get(path) ?? []);
    const isRead = files.every(({ path }) => known.current.has(path));
    return { histograms: all, fault: isRead && all.every(({ bins }) => bins.length === 0) };
  }, [files, answers]);
  return (
    <>
      {/* It measures its room when it is made. */}
      {histograms.some(({ bins }) => bins.length > 0) && (
        <HistogramView tag={label} histograms={histograms} />
      )}
      {fault && (
        <p class="soft small">
          <bdi>{label}</bdi> has no values, or is no histogram:{' '}
          <code>{'{"bins": [0, 1, 2], "values": [3, 4]}'}</code>
        </p>
      )}
    </>
  );
}

/** Return the text of a data URL; undefined for another URL, of a file that is too large for a histogram. */
function textOf(url: string): string | undefined {
  const [, content] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? [];
  if (content === undefined) return undefined;
  return new TextDecoder().decode(Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0)));
}
