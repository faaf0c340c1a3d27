import { ModelError } from '../model-error.ts';
import { pickledTexts } from './pickled-texts.ts';

/** How an array holds texts: Unicode or bytes of a fixed width, or pickled Python objects of any length. */
export interface TextForm {
  kind: 'U' | 'S' | 'O';
  /** Characters (U) or bytes (S) of an element; 0 for objects. */
  width: number;
}

/** Return the form of a text dtype; undefined for numbers. */
export function textForm(kind: string, size: number): TextForm | undefined {
  return kind === 'U' || kind === 'S' || kind === 'O' ? { kind, width: kind === 'O' ? 0 : size } : undefined;
}

/** Bytes of an element; undefined for objects. */
export const textBytes = ({ kind, width }: TextForm): number | undefined =>
  kind === 'O' ? undefined : kind === 'U' ? 4 * width : width;

/**
 * Return the texts of an array.
 *
 * @throws ModelError for bytes that are not texts
 */
export function readTexts(bytes: Uint8Array, { kind, width }: TextForm, isBigEndian: boolean): string[] {
  if (kind === 'O') return pickledTexts(bytes);
  const size = kind === 'U' ? 4 * width : width;
  const count = size === 0 ? 0 : bytes.length / size;
  return Array.from({ length: count }, (_, at) => {
    const element = bytes.subarray(at * size, (at + 1) * size);
    return kind === 'U' ? wideText(element, isBigEndian) : narrowText(element);
  });
}

/** Shorter texts are filled with zeros. */
function wideText(element: Uint8Array, isBigEndian: boolean): string {
  const view = new DataView(element.buffer, element.byteOffset, element.byteLength);
  const points = Array.from({ length: element.length / 4 }, (_, at) => view.getUint32(4 * at, !isBigEndian));
  const end = points.findLastIndex((point) => point !== 0) + 1;
  if (points.some((point) => point > 0x10ffff)) throw new ModelError('An array of texts is damaged.');
  return points
    .slice(0, end)
    .map((point) => String.fromCodePoint(point))
    .join('');
}

const utf8 = new TextDecoder();

const narrowText = (element: Uint8Array): string =>
  utf8.decode(element.subarray(0, element.findLastIndex((byte) => byte !== 0) + 1));
