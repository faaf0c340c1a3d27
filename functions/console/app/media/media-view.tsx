import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { mediaKinds } from '../../../../shared/experiments/media-series.ts';
import { readArtifact } from '../api/experiments.ts';
import { loadMedia, type MediaItem, type MediaOfExperiment, type MediaSeries } from '../api/media.ts';
import { lineColour } from '../theme/colours.ts';
import { Command } from '../ui/controls/copy.tsx';
import { Image } from '../ui/image.tsx';
import { place, placeOf, setQuery } from '../ui/router.ts';
import { Empty } from '../ui/states/empty.tsx';
import { Problem } from '../ui/states/problem.tsx';
import { Skeleton } from '../ui/states/skeleton.tsx';
import { CutName } from '../ui/text/cut-name.tsx';
import { AudioPlayer } from './audio-player.tsx';
import { EventFiles } from './event-files.tsx';
import { drawnItems, HistogramTile } from './histogram-tile.tsx';
import { Lightbox } from './lightbox.tsx';
import { PictureLoader, type WantedPicture } from './picture-loader.ts';
import { StepSlider } from './step-slider.tsx';
import { itemAt, itemsAround, stepsOf } from './steps.ts';
import { useVisibility } from './use-visibility.ts';

/** Experiment whose media are shown. */
export interface MediaExperiment {
  experiment_id: string;
  name: string;
}

/** One series of one experiment on the page. */
interface Tile {
  id: string;
  experiment_id: string;
  label: string;
  colour: number | undefined;
  series: MediaSeries;
}

const sizes = [
  { id: 's', name: 'Small', rem: 8 },
  { id: 'm', name: 'Medium', rem: 13 },
  { id: 'l', name: 'Large', rem: 22 },
] as const;

/** Pictures of each visible tile that are loaded ahead, around the chosen step. */
const ahead = 60;
const maxGroups = 100;

const useMedia = (project_id: string, ids: readonly string[], isRunning: boolean) => {
  const [media, setMedia] = useState<readonly MediaOfExperiment[]>();
  const [error, setError] = useState<unknown>();
  const [isComplete, setComplete] = useState(false);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const aborter = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (isFirst: boolean): Promise<void> => {
      try {
        const found = await loadMedia(
          project_id,
          ids,
          (some) => {
            if (isFirst && !aborter.signal.aborted) setMedia(some);
          },
          aborter.signal,
        );
        if (aborter.signal.aborted) return;
        setMedia(found);
        setComplete(true);
        if (isRunning) timer = setTimeout(() => void load(false), 10_000);
      } catch (failure) {
        if (!aborter.signal.aborted) setError(failure);
      }
    };
    setError(undefined);
    void load(true);
    return () => {
      aborter.abort();
      clearTimeout(timer);
    };
  }, [project_id, ids.join(), isRunning, tries]);
  return { media, error, isComplete, retry: () => setTries(tries + 1) };
};

/** Titles of the groups of one experiment. */
const titles = { picture: '', audio: 'Sounds', histogram: 'Histograms', events: 'TensorBoard' } as const;

const layouts = { picture: 'media-grid', audio: 'media-grid', histogram: 'charts', events: '' } as const;

/** Group the series: by key, with a tile for each experiment; of one experiment all keys together. */
function groupsOf(
  experiments: readonly MediaExperiment[],
  media: readonly MediaOfExperiment[],
): { title: string; tiles: Tile[] }[] {
  const byId = new Map(media.map((one) => [one.experiment_id, one]));
  const isSingle = experiments.length === 1;
  const groups = new Map<string, Tile[]>();
  for (const [colour, { experiment_id, name }] of experiments.entries())
    for (const series of byId.get(experiment_id)?.series ?? []) {
      const title = isSingle ? titles[series.kind] : series.key;
      const tiles = groups.get(title) ?? [];
      groups.set(title, tiles);
      tiles.push({
        id: `${experiment_id} ${series.kind} ${series.key}`,
        experiment_id,
        label: isSingle ? series.key : name,
        colour: isSingle ? undefined : colour,
        series,
      });
    }
  const list = [...groups].map(([title, tiles]) => ({ title, tiles }));
  // One looks at pictures first.
  const placeOf = ({ tiles: [first] }: { tiles: Tile[] }) =>
    mediaKinds.indexOf(first?.series.kind ?? 'picture');
  return list.sort((a, b) => placeOf(a) - placeOf(b));
}

function TileView({
  tile,
  step,
  loader,
  observer,
  onOpen,
  project_id,
}: {
  tile: Tile;
  step: number | undefined;
  loader: PictureLoader;
  observer: Pick<ReturnType<typeof useVisibility>, 'isVisible' | 'refOf'>;
  onOpen: () => void;
  project_id: string;
}) {
  const { series, experiment_id, label, colour } = tile;
  const item = itemAt(series.items, step);
  const isVisible = observer.isVisible(tile.id);
  const about = item?.step == null ? '' : `step ${item.step.toLocaleString('en')}`;
  const caption = (
    <figcaption>
      {colour !== undefined && <i style={{ background: `var(--${lineColour(colour)})` }} />}
      <CutName name={label} class="grow" />
      <span class={item?.step === step ? 'soft number' : 'number other'}>{about}</span>
    </figcaption>
  );
  if (item === undefined) return null;
  if (series.kind === 'events')
    return (
      <div class="media-events" ref={observer.refOf(tile.id)} data-id={tile.id}>
        {caption}
        {isVisible && <EventFiles path={{ project_id, experiment_id }} files={series.items} />}
      </div>
    );
  if (series.kind === 'audio')
    return (
      <figure class="media-tile sound">
        <AudioPlayer
          key={item.path}
          read={() => readArtifact({ project_id, experiment_id }, item.path)}
          label={`${label} ${about}`}
        />
        {caption}
      </figure>
    );
  if (series.kind === 'histogram')
    return (
      <div class="histogram-tile" ref={observer.refOf(tile.id)} data-id={tile.id}>
        <HistogramTile label={label} experiment_id={experiment_id} items={series.items} loader={loader} />
      </div>
    );
  const shown = isVisible ? nearestRead(loader, experiment_id, series, item) : undefined;
  return (
    <figure class="media-tile" ref={observer.refOf(tile.id)} data-id={tile.id}>
      <button type="button" onClick={onOpen} aria-label={`Enlarge ${label} ${about}`}>
        {shown !== undefined && 'url' in shown ? (
          <Image src={shown.url} alt="" path={shown.path} class={shown.path === item.path ? '' : 'waiting'} />
        ) : shown !== undefined ? (
          <span class="soft small">{shown.fault}</span>
        ) : (
          <span class="blank" />
        )}
      </button>
      {caption}
    </figure>
  );
}

/** Return the wanted picture, or until it is loaded the nearest one of its series. */
function nearestRead(
  loader: PictureLoader,
  experiment_id: string,
  series: MediaSeries,
  item: MediaItem,
): ({ url: string } & { path: string }) | ({ fault: string } & { path: string }) | undefined {
  for (const { path } of itemsAround(series.items, item.step ?? undefined, ahead)) {
    const read = loader.get({ experiment_id, path });
    if (read !== undefined && ('url' in read || path === item.path)) return { ...read, path };
  }
  return undefined;
}

/** Pictures, sounds and histograms of experiments, by key, with one slider for the steps of all. */
export function MediaView({
  project_id,
  experiments,
  isRunning,
}: {
  project_id: string;
  experiments: readonly MediaExperiment[];
  isRunning: boolean;
}) {
  const { media, error, isComplete, retry } = useMedia(
    project_id,
    experiments.map(({ experiment_id }) => experiment_id),
    isRunning,
  );
  const { query } = place.value;
  const [loader] = useState(() => new PictureLoader(project_id));
  useEffect(() => () => loader.end(), [loader]);
  const [, redraw] = useState(0);
  const observer = useVisibility(() => redraw((count) => count + 1));
  const asked = query.get('step');
  const [chosen, setChosen] = useState(asked === null ? undefined : Number(asked));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** Step that the slider has put into the address. */
  const written = useRef<string>(undefined);
  useEffect(() => {
    // The slider may have moved on since it wrote this step.
    if (asked === written.current) return;
    written.current = undefined;
    // A step that the slider has not yet put into the address must not replace that of a new one.
    clearTimeout(timer.current);
    if (asked !== null) setChosen(Number(asked));
  }, [asked]);
  const [opened, setOpened] = useState<Tile>();
  const wanted = query.get('keys') ?? '';
  const size = sizes.find(({ id }) => id === query.get('size')) ?? sizes[1];
  const steps = useMemo(() => stepsOf(media ?? []), [media]);
  const groups = useMemo(() => groupsOf(experiments, media ?? []), [experiments, media]);
  const drawn = useMemo(() => new Map<string, JSX.Element>(), [groups]);
  const shown = useMemo(() => {
    const text = wanted.toLowerCase();
    return groups
      .map(({ title, tiles }) => ({
        title,
        tiles: tiles.filter(({ series, label }) => `${series.key} ${label}`.toLowerCase().includes(text)),
      }))
      .filter(({ tiles }) => tiles.length > 0);
  }, [groups, wanted]);
  // Follow the last step until a step is chosen.
  const index =
    chosen === undefined
      ? steps.length - 1
      : Math.max(
          0,
          steps.findLastIndex((step) => step <= chosen),
        );
  const step = steps[index];
  void loader.answers.value;

  const setIndex = (next: number) => {
    const value = steps[next];
    setChosen(value);
    clearTimeout(timer.current);
    // The address follows once the slider rests.
    timer.current = setTimeout(() => {
      const current = placeOf(location.hash).query.get('step');
      // Somebody else has put a step into the address, and this page is about to show it.
      if (current !== asked && current !== written.current) return;
      written.current = String(value);
      setQuery({ step: written.current });
    }, 300);
  };
  useEffect(() => () => clearTimeout(timer.current), []);

  useEffect(() => {
    const tiles = shown.flatMap((group) => group.tiles).filter(({ id }) => observer.visible.has(id));
    loader.want(() => {
      const around = tiles.map(({ experiment_id, series }) =>
        (series.kind === 'events'
          ? []
          : series.kind === 'histogram'
            ? drawnItems(series.items)
            : [...itemsAround(series.items, step, ahead)]
        ).map(({ path, size: bytes }): WantedPicture => ({ experiment_id, path, size: bytes })),
      );
      // First what every tile shows, then the neighbours.
      const longest = Math.max(0, ...around.map(({ length }) => length));
      const [shown = [], ...others] = Array.from({ length: longest }, (_, distance) =>
        around.flatMap((list) => list[distance] ?? []),
      );
      return { shown, ahead: others.flat() };
    });
  });

  /** Draw a tile. Pictures beyond the screen stay as they are: hundreds of them would take the time of the others. */
  const tileOf = (tile: Tile): JSX.Element => {
    const before = drawn.get(tile.id);
    const isBeyond = tile.series.kind !== 'audio' && !observer.isVisible(tile.id);
    if (before !== undefined && isBeyond) return before;
    const element = (
      <TileView
        key={tile.id}
        tile={tile}
        step={step}
        loader={loader}
        observer={observer}
        project_id={project_id}
        onOpen={() => setOpened(tile)}
      />
    );
    drawn.set(tile.id, element);
    return element;
  };

  if (error !== undefined && media === undefined)
    return <Problem error={error} onRetry={retry} what="The pictures could not be loaded" />;
  if (media === undefined || (groups.length === 0 && !isComplete)) return <Skeleton rows={6} />;
  if (groups.length === 0)
    return (
      <Empty title="No pictures, sounds or histograms" icon="picture">
        <p>This line of a program shows a picture here, with a slider for its steps:</p>
        <Command>mlflow.log_image(image, key="samples", step=step)</Command>
        <p>So does this one, of Weights & Biases:</p>
        <Command>{'wandb.log({"samples": wandb.Image(image)}, step=step)'}</Command>
        <p>
          Files such as <code>samples/epoch_12.png</code> in <code>OUTPUT_DIR</code> are shown too, and
          histograms such as <code>histograms/weights_step_12.json</code> with{' '}
          <code>{'{"bins": [0, 1, 2], "values": [3, 4]}'}</code>.
        </p>
      </Empty>
    );
  const count = groups.reduce((sum, { tiles }) => sum + tiles.length, 0);
  return (
    <>
      <div class="media-bar">
        {steps.length > 1 && <StepSlider steps={steps} index={index} onIndex={setIndex} />}
        <div class="media-tools">
          {count > 8 && (
            <input
              type="search"
              aria-label="Find keys"
              placeholder="Find keys"
              value={wanted}
              onInput={({ currentTarget }) => setQuery({ keys: currentTarget.value })}
            />
          )}
          <div class="segments" role="group" aria-label="Size">
            {sizes.map(({ id, name }) => (
              <button
                key={id}
                type="button"
                aria-pressed={id === size.id}
                title={name}
                onClick={() => setQuery({ size: id === 'm' ? undefined : id })}
              >
                {id.toUpperCase()}
                <span class="hidden"> {name}</span>
              </button>
            ))}
          </div>
        </div>
      </div>
      {shown.slice(0, maxGroups).map(({ title, tiles }) => (
        <section key={title} class="media-group" aria-label={title === '' ? 'Pictures' : title}>
          {title !== '' && (
            <h2>
              <bdi>{title}</bdi> {tiles.length > 1 && <span class="soft number">{tiles.length}</span>}
            </h2>
          )}
          <div class={layouts[tiles[0]?.series.kind ?? 'picture']} style={{ '--tile': `${size.rem}rem` }}>
            {tiles.map(tileOf)}
          </div>
        </section>
      ))}
      {shown.length === 0 && <Empty title="No key matches" icon="search" />}
      {media.some(({ is_complete }) => !is_complete) && (
        <p class="soft small">
          An experiment has more than 10,000 artifacts. Pictures among the first ones are shown.
        </p>
      )}
      {opened !== undefined && (
        <Lightbox
          path={{ project_id, experiment_id: opened.experiment_id }}
          label={opened.label}
          items={opened.series.items}
          step={step}
          onStep={(next) => setIndex(steps.indexOf(next))}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  );
}
