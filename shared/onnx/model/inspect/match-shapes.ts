import { ModelError } from '../model-error.ts';

/** The requested shape of one tensor. */
interface ShapeGroup {
  /** Name of its tensor, if given. */
  name?: string;
  /** Null for an open dimension. */
  dims: (number | null)[];
  /** Whether it is a bare number. Several bare numbers may form one shape. */
  bare: boolean;
}

/** An input or output of a model. The shape is null if its rank is open; an open dimension is a name or null. */
export interface ShapedTensor {
  name: string;
  shape: readonly (number | string | null)[] | null;
}

/** A tensor's name with the shape that model and caller agree on; null for a dimension that neither fixes. */
interface MatchedShape {
  name: string;
  dims: (number | null)[];
}

type MatchedShapes = { ok: true; shapes: MatchedShape[] } | { ok: false; fault: string };

/**
 * Match the groups to the tensors by name or by order, and compare them: numbers must be equal, an open dimension
 * matches any number, and one name has one number throughout. Bare numbers are the dimensions of a single tensor,
 * or one shape of rank 1 for each of several tensors.
 *
 * @returns the shapes in the order of the tensors, or an error message with both shapes
 */
export function matchShapes(groups: readonly ShapeGroup[], tensors: readonly ShapedTensor[]): MatchedShapes {
  const assigned = assign(groups, tensors);
  if (typeof assigned === 'string') return { ok: false, fault: assigned };
  const sizes = new Map<string, number>();
  const shapes: MatchedShape[] = [];
  for (const [index, { name, shape }] of tensors.entries()) {
    const dims = assigned[index]?.dims ?? [];
    const differs = `${JSON.stringify(name)} is ${shapeText(shape)} in the model, but ${shapeText(dims)} was requested`;
    if (shape !== null && shape.length !== dims.length) return { ok: false, fault: differs };
    const matched: (number | null)[] = [];
    for (const [axis, dim] of dims.entries()) {
      const own = shape?.[axis] ?? null;
      if (typeof own === 'number') {
        if (dim !== null && dim !== own) return { ok: false, fault: differs };
        matched.push(own);
        continue;
      }
      if (typeof own === 'string' && dim !== null) {
        const before = sizes.get(own) ?? dim;
        if (before !== dim) return { ok: false, fault: `${differs}, where ${own} was ${before} before` };
        sizes.set(own, dim);
      }
      matched.push(dim);
    }
    shapes.push({ name, dims: matched });
  }
  return { ok: true, shapes };
}

/** Return the groups in the order of the tensors, or their fault. */
function assign(groups: readonly ShapeGroup[], tensors: readonly ShapedTensor[]): ShapeGroup[] | string {
  const [first] = groups;
  if (first !== undefined && tensors.length === 1 && groups.every(({ bare }) => bare))
    return [{ dims: groups.flatMap(({ dims }) => dims), bare: false }];
  const count = `${given(groups)} was requested, but the model has ${listed(tensors)}`;
  if (groups.length !== tensors.length)
    return `${count}: ${groups.length} ${groups.length === 1 ? 'shape' : 'shapes'} for ${tensors.length}`;
  const named = new Map<string, ShapeGroup>();
  for (const group of groups) {
    if (group.name === undefined) continue;
    if (named.has(group.name)) return `${JSON.stringify(group.name)} has two requested shapes`;
    named.set(group.name, group);
  }
  const unknown = [...named.keys()].find((name) => tensors.every((tensor) => tensor.name !== name));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is not one of ${listed(tensors)}`;
  const unnamed = groups.filter(({ name }) => name === undefined);
  const assigned: ShapeGroup[] = [];
  for (const { name } of tensors) {
    const group = named.get(name) ?? unnamed.shift();
    if (group !== undefined) assigned.push(group);
  }
  return assigned.length === tensors.length ? assigned : count;
}

const given = (groups: readonly ShapeGroup[]): string =>
  groups.length === 0
    ? 'none'
    : groups
        .map(({ name, dims }) => (name === undefined ? '' : `${JSON.stringify(name)} `) + shapeText(dims))
        .join(', ');

/** Format a shape as `[1, 3, ?]`, with the names of open dimensions. */
export const shapeText = (shape: readonly (number | string | null)[] | null): string =>
  shape === null ? 'of any rank' : `[${shape.map((dim) => dim ?? '?').join(', ')}]`;

const listed = (tensors: readonly ShapedTensor[]): string =>
  tensors.length === 0
    ? 'none'
    : tensors.map(({ name, shape }) => `${JSON.stringify(name)} ${shapeText(shape)}`).join(', ');

/** Longest text of shapes, in characters. */
export const maxShapesLength = 4000;

/**
 * Parse the shapes of a model's inputs or outputs. Blank text has no shapes.
 * @throws ModelError naming the error and the allowed form
 */
export function parseShapes(text: string): ShapeGroup[] {
  if (text.length > maxShapesLength) throw refused(`The shapes have more than ${maxShapesLength} characters`);
  return text.trim() === '' ? [] : splitGroups(text).map(parseGroup);
}

const allowed =
  'Shapes are separated by commas or semicolons, each after an optional "name:": 1x3x224x224, [1,3,224,224] or (1,3,224,224); [] is a scalar, and ?, -1 or N is a free dimension';

const refused = (what: string): ModelError => new ModelError(`${what}. ${allowed}.`);

/** Split at commas and semicolons outside brackets. */
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

/** Maximum number of dimensions of a tensor. */
const maxRank = 64;

function parseGroup(text: string): ShapeGroup {
  const group = text.trim();
  if (group === '') throw refused('A shape is missing between two separators, or after the last one');
  // Names may contain colons, as in TensorFlow. Shapes do not.
  const colon = group.lastIndexOf(':');
  const { dims, bare } = parseDims(group.slice(colon + 1).trim());
  if (dims.length > maxRank)
    throw refused(`A shape has ${dims.length} dimensions; at most ${maxRank} are allowed`);
  if (colon === -1) return { dims, bare };
  const name = group.slice(0, colon).trim();
  if (name === '') throw refused(`${quoted(group)} has no name before its colon`);
  return { name, dims, bare: false };
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

function parseDim(text: string, whole: string): number | null {
  const dim = text.trim();
  if (dim === '?' || dim === '-1' || dim === 'N') return null;
  if (/^\d{1,15}$/.test(dim)) return Number(dim);
  throw refused(dim === '' ? `${quoted(whole)} has an empty dimension` : `${quoted(dim)} is not a dimension`);
}

const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
