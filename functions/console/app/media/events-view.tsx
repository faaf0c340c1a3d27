import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { bytesText } from '../../../../shared/core/text/bytes-text.ts';
import { type ExperimentPath, readArtifact } from '../api/experiments.ts';
import { Chart } from '../charts/chart.tsx';
import { ChartTools } from '../charts/chart-tools.tsx';
import { HistogramView } from '../charts/values/histogram-view.tsx';
import { useChartView } from '../charts/view.ts';
import { Image } from '../ui/image.tsx';
import { Empty } from '../ui/states/empty.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { AudioPlayer } from './audio-player.tsx';
import { type Events, readEvents } from './read-events.ts';

const maxBytes = 64_000_000;
/** Bytes of a file that is read without being opened. */
const mediaBytes = 16_000_000;
const chartHeight = 240;

/** Curves, pictures, sounds and histograms of an event file of TensorBoard. */
export function EventsView({
  path,
  file,
  isMedia = false,
}: {
  path: ExperimentPath;
  file: { path: string; size: number };
  /** Whether to leave out the curves, and most of a large file. */
  isMedia?: boolean;
}) {
  const most = isMedia ? mediaBytes : maxBytes;
  const [events, setEvents] = useState<Events>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let isGone = false;
    let read: Events | undefined;
    readArtifact(path, file.path, most)
      .then((bytes) => {
        if (isGone) return;
        read = readEvents(new Uint8Array(bytes));
        setEvents(read);
      })
      .catch((failure: unknown) => {
        if (!isGone) setError(failure);
      });
    return () => {
      isGone = true;
      for (const list of read?.pictures.values() ?? []) for (const { url } of list) URL.revokeObjectURL(url);
    };
  }, [file.path, file.size]);
  const view = useChartView();
  const curves = useMemo(
    () =>
      [...((!isMedia && events?.scalars) || [])].map(([tag, curve]) => ({
        tag,
        curves: [{ id: tag, label: tag, style: 0, curve }],
      })),
    [events],
  );
  if (error !== undefined) return <Problem error={error} what="The file could not be read" />;
  if (events === undefined) return <Skeleton rows={4} />;
  const { scalars, pictures, sounds, histograms } = events;
  const hasNoMedia = pictures.size === 0 && sounds.size === 0 && histograms.size === 0;
  if (isMedia && hasNoMedia)
    return (
      <p class="soft small">
        <bdi>{file.path}</bdi> has no pictures, sounds or histograms
        {file.size > most && ` in its first ${bytesText(most)}`}.
      </p>
    );
  if (scalars.size === 0 && hasNoMedia)
    return <Empty title="The file has no curves, pictures or histograms" icon="chart" />;
  return (
    <>
      {(pictures.size > 0 || sounds.size > 0) && <OverSteps pictures={pictures} sounds={sounds} />}
      <div class="charts">
        {curves.map(({ tag, curves: drawn }) => (
          <Chart
            key={tag}
            name={tag}
            curves={drawn}
            view={view}
            height={chartHeight}
            readRange={async () => new Map()}
            tools={(picture) => <ChartTools name={tag} isPinned={false} isEnlarged drawn={picture} />}
          />
        ))}
        {[...histograms].map(([tag, list]) => (
          <HistogramView key={tag} tag={tag} histograms={list} />
        ))}
      </div>
      {file.size > most && (
        <p class="soft small">
          The first {bytesText(most)}.{' '}
          {isMedia ? 'Open it below Artifacts for more.' : 'Download the file for the rest.'}
        </p>
      )}
    </>
  );
}

/** Return what is shown at a step: the last of a tag until then, else its first. */
const shownAt = <T extends { step: number }>(list: readonly T[], step: number): T | undefined =>
  list.findLast(({ step: at }) => at <= step) ?? list[0];

/** Picture or sound of a tag, with its step. */
const Figure = ({
  tag,
  step,
  class: kind = '',
  children,
}: {
  tag: string;
  step: number;
  class?: string;
  children: ComponentChildren;
}) => (
  <figure class={`media-tile ${kind}`}>
    {children}
    <figcaption>
      <bdi class="ellipsis grow">{tag}</bdi>
      <span class="soft number">step {step.toLocaleString('en')}</span>
    </figcaption>
  </figure>
);

const OverSteps = ({ pictures, sounds }: Pick<Events, 'pictures' | 'sounds'>) => {
  const all = [...pictures.values(), ...sounds.values()].flat();
  const steps = [...new Set(all.map(({ step }) => step))].sort((a, b) => a - b);
  const [index, setIndex] = useState(steps.length - 1);
  const step = steps[index] ?? 0;
  return (
    <>
      {steps.length > 1 && (
        <div class="step-bar">
          <input
            type="range"
            aria-label="Step of the event file"
            aria-valuetext={`step ${step}`}
            min={0}
            max={steps.length - 1}
            value={index}
            onInput={({ currentTarget }) => setIndex(Number(currentTarget.value))}
          />
          <output class="number">step {step.toLocaleString('en')}</output>
        </div>
      )}
      <div class="media-grid">
        {[...pictures].map(([tag, list]) => {
          const shown = shownAt(list, step);
          return (
            shown && (
              <Figure key={tag} tag={tag} step={shown.step}>
                <Image src={shown.url} alt={`${tag} at step ${shown.step}`} />
              </Figure>
            )
          );
        })}
        {[...sounds].map(([tag, list]) => {
          const shown = shownAt(list, step);
          return (
            shown && (
              <Figure key={`${tag} ${shown.step}`} tag={tag} step={shown.step} class="sound">
                {/* A browser empties the bytes that it decodes. */}
                <AudioPlayer read={async () => shown.bytes.slice()} label={`${tag} step ${shown.step}`} />
              </Figure>
            )
          );
        })}
      </div>
    </>
  );
};
