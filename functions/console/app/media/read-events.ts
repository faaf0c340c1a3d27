import { EventFile } from '../../../../shared/runner/metric-files/event-file.ts';
import type { Curve } from '../charts/reading/curve.ts';
import type { StepHistogram } from '../charts/values/histogram-grid.ts';

/** Picture of an event file. */
export interface EventPicture {
  step: number;
  url: string;
}

/** Sound of an event file. */
export interface EventSound {
  step: number;
  bytes: ArrayBuffer;
}

export interface Events {
  scalars: ReadonlyMap<string, Curve>;
  pictures: ReadonlyMap<string, readonly EventPicture[]>;
  sounds: ReadonlyMap<string, readonly EventSound[]>;
  histograms: ReadonlyMap<string, readonly StepHistogram[]>;
}

/** Return the media type of an encoded picture; undefined if it is none. */
function pictureType([first, second]: Uint8Array): string | undefined {
  if (first === 0x89 && second === 0x50) return 'image/png';
  if (first === 0xff && second === 0xd8) return 'image/jpeg';
  return first === 0x47 && second === 0x49 ? 'image/gif' : undefined;
}

/** Return whether an event file has pictures, sounds or histograms. */
export function hasMedia(bytes: Uint8Array): boolean {
  let isThere = false;
  const note = () => {
    isThere = true;
  };
  new EventFile({ onHistogram: note, onPicture: note, onSound: note }).read(bytes);
  return isThere;
}

/** Read the curves, pictures, sounds and histograms of an event file of TensorBoard. A last record that is cut off is left out. */
export function readEvents(bytes: Uint8Array<ArrayBuffer>): Events {
  const scalars = new Map<string, Curve>();
  const pictures = new Map<string, EventPicture[]>();
  const sounds = new Map<string, EventSound[]>();
  const histograms = new Map<string, StepHistogram[]>();
  const file = new EventFile({
    onHistogram({ tag, step, bins }) {
      const list = histograms.get(tag) ?? [];
      histograms.set(tag, list);
      list.push({ step, bins });
    },
    onSound({ tag, step, file: sound }) {
      const list = sounds.get(tag) ?? [];
      sounds.set(tag, list);
      list.push({ step, bytes: sound.slice().buffer });
    },
    onPicture({ tag, step, file: picture }) {
      const type = pictureType(picture);
      if (type === undefined) return;
      const list = pictures.get(tag) ?? [];
      pictures.set(tag, list);
      list.push({ step, url: URL.createObjectURL(new Blob([picture.slice()], { type })) });
    },
  });
  for (const { tag, value, step, time } of file.read(bytes)) {
    const curve = scalars.get(tag) ?? { steps: [], times: [], values: [] };
    scalars.set(tag, curve);
    curve.steps.push(step);
    curve.times.push(time);
    curve.values.push(value);
  }
  return { scalars, pictures, sounds, histograms };
}
