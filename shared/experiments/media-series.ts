/** Kinds of files that the console shows step by step. An event file of TensorBoard may have all of them, or none. */
export const mediaKinds = ['picture', 'audio', 'histogram', 'events'] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** One picture, sound or histogram of a series. */
export interface MediaItem {
  /** Null for a file whose name has no step. */
  step: number | null;
  path: string;
  size: number;
  /** Path of the full-size picture, if `path` is MLflow's smaller copy. */
  original: string | null;
}

/** Pictures, sounds or histograms with one name, by step. */
export interface MediaSeries {
  key: string;
  kind: MediaKind;
  items: MediaItem[];
}

const byEnding: Readonly<Record<string, 'picture' | 'audio'>> = {
  ...{ png: 'picture', jpg: 'picture', jpeg: 'picture', gif: 'picture', webp: 'picture', svg: 'picture' },
  ...{ wav: 'audio', mp3: 'audio', flac: 'audio', ogg: 'audio', m4a: 'audio', aac: 'audio', opus: 'audio' },
};

/** Return whether a file is a picture or a sound, by the ending of its name; undefined for other files. */
export function mediaKindOf(path: string): (typeof byEnding)[string] | undefined {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
}

/** Return whether a file has a name that TensorBoard gives its event files. */
export const isEventFile = (path: string): boolean => /(?:^|\/)events\.out\.tfevents\.[^/]*$/.test(path);

/** A JSON file of a folder `histograms`, whoever writes it: `{"bins": [edges], "values": [counts]}`. */
const histogramFile = /(?:^|\/)histograms\/.+\.json$/;

/**
 * Names of `mlflow.log_image(image, key=, step=)`. MLflow 3.0 separates the parts by `%` and writes `#` for a slash
 * in the key; 3.17 separates them by `+` and writes `~`.
 */
const mlflowName = /^images\/(.+)([%+])step\2(-?\d+)\2timestamp\2\d+\2([\w-]+?)(\2compressed)?\.\w+$/;

/** A step in a name: a number after such a word, or the number at the end. */
const stepWord =
  /(^|[/_.-])((?:global_?)?step|epoch|iter(?:ation)?|round|batch)[_=-]?(\d{1,15})(?=$|[/_.-])/i;
const lastNumber = /(^|[/_.-]|[A-Za-z])[_=-]?(\d{1,15})$/;

interface Named {
  key: string;
  step: number | null;
  /** Identity of an MLflow picture, which its smaller copy shares. */
  id?: string;
  isCopy?: boolean;
}

function nameOf(path: string): Named {
  // A writer that is restarted adds a file to its folder.
  if (isEventFile(path)) return { key: path.replace(/\/?[^/]*$/, '') || 'TensorBoard', step: null };
  const [whole, key = '', mark, step, uuid, copy] = mlflowName.exec(path) ?? [];
  if (whole !== undefined) {
    const readable = key.replaceAll(mark === '%' ? '#' : '~', '/');
    return { key: readable, step: Number(step), id: `${key} ${step} ${uuid}`, isCopy: copy !== undefined };
  }
  const stem = path.replace(/\.\w+$/, '');
  const worded = stepWord.exec(stem);
  if (worded !== null) {
    const before = stem.slice(0, worded.index);
    const after = stem.slice(worded.index + worded[0].length);
    return {
      key: `${before}${after}`.replace(/^[/_.-]+|[/_.-]+$/g, '') || (worded[2] ?? ''),
      step: Number(worded[3]),
    };
  }
  const ending = lastNumber.exec(stem);
  if (ending === null) return { key: stem, step: null };
  const head = `${stem.slice(0, ending.index)}${ending[1] ?? ''}`.replace(/[_.=-]+$/, '');
  return { key: head.replace(/\/$/, '') || stem, step: Number(ending[2]) };
}

/**
 * Group the pictures, sounds and histograms among files into series: by MLflow's names, and by a step in the name of a
 * file, such as `samples/epoch_12.png`. A number that only one file has is part of the name.
 */
export function mediaSeries(files: readonly { path: string; size: number }[]): MediaSeries[] {
  const series = new Map<string, MediaSeries>();
  const originals = new Map<string, string>();
  const copies = new Map<MediaItem, string>();
  const copied = new Set<string>();
  const read = files.flatMap(({ path, size }) => {
    const kind: MediaKind | undefined =
      mediaKindOf(path) ??
      (histogramFile.test(path) ? 'histogram' : isEventFile(path) ? 'events' : undefined);
    return kind === undefined ? [] : [{ path, size, kind, ...nameOf(path) }];
  });
  for (const { id, isCopy, path } of read)
    if (id !== undefined) {
      if (isCopy) copied.add(id);
      else originals.set(id, path);
    }
  for (const { path, size, kind, key, step, id, isCopy } of read) {
    // MLflow stores each picture twice. Show the smaller one.
    if (id !== undefined && !isCopy && copied.has(id)) continue;
    const name = `${kind} ${key}`;
    const found = series.get(name) ?? { key, kind, items: [] };
    series.set(name, found);
    const item: MediaItem = { step, path, size, original: null };
    if (id !== undefined && isCopy) copies.set(item, id);
    found.items.push(item);
  }
  for (const [item, id] of copies) item.original = originals.get(id) ?? null;
  for (const one of series.values()) {
    const [only] = one.items;
    if (
      one.items.length === 1 &&
      only !== undefined &&
      one.kind !== 'events' &&
      !mlflowName.test(only.path) &&
      !stepWord.test(only.path.replace(/\.\w+$/, ''))
    )
      Object.assign(one, { key: only.path.replace(/\.\w+$/, ''), items: [{ ...only, step: null }] });
    one.items.sort((a, b) => (a.step ?? -1) - (b.step ?? -1) || (a.path < b.path ? -1 : 1));
  }
  return [...series.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}
