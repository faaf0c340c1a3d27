import type { ShapeGroup } from './parse-shapes.ts';

/** An input or output of a model; the shape is null where its rank is open, a dimension is a name or null where free. */
export interface ShapedTensor {
  name: string;
  shape: readonly (number | string | null)[] | null;
}

/** A tensor's name with the shape that model and caller agree on: null where neither of them fixes a dimension. */
export interface MatchedShape {
  name: string;
  dims: (number | null)[];
}

export type MatchedShapes = { ok: true; shapes: MatchedShape[] } | { ok: false; fault: string };

/** A shape as people write it: `[1, 3, ?]`, with the names of free dimensions. */
export const shapeText = (shape: readonly (number | string | null)[] | null): string =>
  shape === null ? 'of any rank' : `[${shape.map((dim) => dim ?? '?').join(', ')}]`;

const listed = (tensors: readonly ShapedTensor[]): string =>
  tensors.length === 0
    ? 'none'
    : tensors.map(({ name, shape }) => `${JSON.stringify(name)} ${shapeText(shape)}`).join(', ');

const given = (groups: readonly ShapeGroup[]): string =>
  groups.length === 0
    ? 'none'
    : groups
        .map(({ name, dims }) => (name === undefined ? '' : `${JSON.stringify(name)} `) + shapeText(dims))
        .join(', ');

/** The groups in the order of the tensors, or what is wrong with them. */
function assign(groups: readonly ShapeGroup[], tensors: readonly ShapedTensor[]): ShapeGroup[] | string {
  const [first] = groups;
  if (first !== undefined && tensors.length === 1 && groups.every(({ bare }) => bare))
    return [{ dims: groups.flatMap(({ dims }) => dims), bare: false }];
  const count = `${given(groups)} was given where the model has ${listed(tensors)}`;
  if (groups.length !== tensors.length)
    return `${count}: ${groups.length} ${groups.length === 1 ? 'shape' : 'shapes'} for ${tensors.length}`;
  const named = new Map<string, ShapeGroup>();
  for (const group of groups) {
    if (group.name === undefined) continue;
    if (named.has(group.name)) return `${JSON.stringify(group.name)} was given two shapes`;
    named.set(group.name, group);
  }
  const unknown = [...named.keys()].find((name) => tensors.every((tensor) => tensor.name !== name));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is none of ${listed(tensors)}`;
  const unnamed = groups.filter(({ name }) => name === undefined);
  const assigned: ShapeGroup[] = [];
  for (const { name } of tensors) {
    const group = named.get(name) ?? unnamed.shift();
    if (group !== undefined) assigned.push(group);
  }
  return assigned.length === tensors.length ? assigned : count;
}

/**
 * Gives each tensor the group that is for it, by name or else in order, and compares: numbers must be equal, a free
 * dimension fits any, and one name stands for one number throughout. Numbers alone are the dimensions of the one
 * tensor there is, or one shape of rank 1 for each of several.
 *
 * @returns the shapes in the order of the tensors, or an error message that names both shapes
 */
export function matchShapes(groups: readonly ShapeGroup[], tensors: readonly ShapedTensor[]): MatchedShapes {
  const assigned = assign(groups, tensors);
  if (typeof assigned === 'string') return { ok: false, fault: assigned };
  const sizes = new Map<string, number>();
  const shapes: MatchedShape[] = [];
  for (const [index, { name, shape }] of tensors.entries()) {
    const dims = assigned[index]?.dims ?? [];
    const differs = `${JSON.stringify(name)} is ${shapeText(shape)} in the model, but ${shapeText(dims)} was given`;
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
