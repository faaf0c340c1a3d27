import { ModelError } from '../model-error.ts';

/** The shape of one tensor as it was written in a request. */
export interface ShapeGroup {
  /** Name of its tensor, where it is given. */
  name?: string;
  /** Null for a dimension that is free. */
  dims: (number | null)[];
  /** Whether it is a number alone, which may as well be one dimension of a shape that several such make up. */
  bare: boolean;
}

/** Longest text of shapes, in characters. */
export const maxShapesLength = 4000;
/** Most dimensions of a tensor. */
const maxRank = 64;

const allowed =
  'Shapes are separated by commas or semicolons, each after an optional "name:": 1x3x224x224, [1,3,224,224] or (1,3,224,224); [] is a scalar, and ?, -1 or N is a free dimension';

const refused = (what: string): ModelError => new ModelError(`${what}. ${allowed}.`);
const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);

function parseDim(text: string, whole: string): number | null {
  const dim = text.trim();
  if (dim === '?' || dim === '-1' || dim === 'N') return null;
  if (/^\d{1,15}$/.test(dim)) return Number(dim);
  throw refused(dim === '' ? `${quoted(whole)} lacks a dimension` : `${quoted(dim)} is no dimension`);
}

function parseDims(text: string): Pick<ShapeGroup, 'dims' | 'bare'> {
  const brackets = /^\[(.*)\]$|^\((.*)\)$/s.exec(text);
  const inside = brackets?.[1] ?? brackets?.[2];
  if (inside !== undefined) {
    const isScalar = inside.trim() === '';
    return { dims: isScalar ? [] : inside.split(',').map((dim) => parseDim(dim, text)), bare: false };
  }
  const dims = text.split(/[xX]/).map((dim) => parseDim(dim, text));
  return { dims, bare: dims.length === 1 };
}

/** The pieces between commas and semicolons that stand in no brackets. */
function splitGroups(text: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  let closing = '';
  for (const sign of text) {
    if (closing === '' && (sign === ',' || sign === ';')) {
      pieces.push(piece);
      piece = '';
      continue;
    }
    if (closing === '' && sign === '[') closing = ']';
    else if (closing === '' && sign === '(') closing = ')';
    else if (sign === closing) closing = '';
    piece += sign;
  }
  if (closing !== '') throw refused(`A ${closing} is missing`);
  return [...pieces, piece];
}

function parseGroup(text: string): ShapeGroup {
  const group = text.trim();
  if (group === '') throw refused('There is nothing between two separators, or after the last');
  // Names may hold colons themselves, as those of TensorFlow do; no shape does.
  const colon = group.lastIndexOf(':');
  const { dims, bare } = parseDims(group.slice(colon + 1).trim());
  if (dims.length > maxRank)
    throw refused(`A shape has ${dims.length} dimensions, where at most ${maxRank} can be`);
  if (colon === -1) return { dims, bare };
  const name = group.slice(0, colon).trim();
  if (name === '') throw refused(`${quoted(group)} lacks the name before its colon`);
  return { name, dims, bare: false };
}

/**
 * Parses the shapes of a model's inputs or outputs. Blank text is no shape at all.
 * @throws ModelError naming the error and the allowed form
 */
export function parseShapes(text: string): ShapeGroup[] {
  if (text.length > maxShapesLength) throw refused(`The shapes have more than ${maxShapesLength} characters`);
  return text.trim() === '' ? [] : splitGroups(text).map(parseGroup);
}
