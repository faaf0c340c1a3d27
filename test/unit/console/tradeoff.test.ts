import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { familyOf, type Kin, ratioToModel } from '../../../functions/console/app/models/lineage/family.ts';
import { beginningOf, idleFault, methodsIn, shareOf } from '../../../functions/console/app/models/method.ts';
import {
  labelBox,
  placeLabels,
  radiiOf,
} from '../../../functions/console/app/models/tradeoff/place-labels.ts';
import { pointAfterKey } from '../../../functions/console/app/models/tradeoff/point-keys.ts';
import { paretoPoints } from '../../../shared/onnx/receipt/pareto-points.ts';
import { pruneSchemas } from '../../../shared/onnx/strategies/prune-request.ts';
import { quantizeSchemas } from '../../../shared/onnx/strategies/quantize-request.ts';

const room = { left: 64, right: 718, top: 2, bottom: 286 };

describe('the labels of a plot', () => {
  test('lie over no other label, over no point, and within the plot', () => {
    // Thirty points on a narrow spiral, many of them near to each other.
    const places = Array.from({ length: 30 }, (_, index) => ({
      x: 220 + index * 11 * Math.cos(index / 2),
      y: 150 + index * 3 * Math.sin(index / 2),
    })).filter(({ x }) => x > 70 && x < 700);
    const radii = radiiOf(places);
    const points = places.map((place, index) => ({
      ...place,
      radius: radii[index] ?? 0,
      text: `strategy ${index}`,
    }));
    const labels = placeLabels(points, room);
    const boxes = labels.flatMap((label, index) =>
      label === undefined ? [] : [labelBox(label, points[index]?.text ?? '')],
    );
    expect(boxes.length).toBeGreaterThan(points.length / 2);
    const marks = points.map(({ x, y, radius }) => ({
      left: x - radius,
      right: x + radius,
      top: y - radius,
      bottom: y + radius,
    }));
    for (const [index, box] of boxes.entries()) {
      expect(box.left >= room.left && box.right <= room.right).toBe(true);
      for (const other of [...boxes.slice(index + 1), ...marks])
        expect(
          box.left < other.right &&
            other.left < box.right &&
            box.top < other.bottom &&
            other.top < box.bottom,
        ).toBe(false);
    }
  });

  test('of points at one place: each has a ring of its own', () => {
    const radii = radiiOf([0, 1, 3].map((x) => ({ x, y: 0 })));
    expect(new Set(radii).size).toBe(3);
    expect(radiiOf([0, 100].map((x) => ({ x, y: 0 })))).toEqual([6, 6]);
  });
});

describe('the family of a model', () => {
  const made = (label: string, fields: Partial<Kin>): Kin => ({
    strategy_id: label,
    label,
    model_name: 'digits',
    model_digest: 'd0',
    created_at: `2026-01-05T08:00:0${label.length}.000Z`,
    registered: null,
    result_name: null,
    result: [],
    ...fields,
  });
  const half = made('a', {
    registered: true,
    result_name: 'digits-half',
    result: [{ sha256: 'd1' }],
  });
  const ofHalf = made('bb', { model_name: 'digits-half', model_digest: 'd1' });

  test('has what was made of its results, after what it was made of', () => {
    const family = familyOf([ofHalf, half, made('ccc', { model_name: 'other' })], 'digits');
    expect(family.map(({ path, isOwn }) => [path, isOwn])).toEqual([
      ['a', true],
      ['a, bb', false],
    ]);
  });

  test('is compared with the model itself: a result of a result by the product of both', () => {
    const ratios: Readonly<Record<string, number>> = { a: 0.5, bb: 0.8 };
    const family = familyOf([ofHalf, half], 'digits');
    expect(family.map((one) => ratioToModel(one, (id) => ratios[id]))).toEqual([0.5, 0.4]);
    expect(family.map((one) => ratioToModel(one, (id) => (id === 'a' ? undefined : 0.8)))).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('has not what was made of another model of that name', () => {
    const replaced = { ...ofHalf, model_digest: 'd9' };
    expect(familyOf([half, replaced], 'digits')).toHaveLength(1);
    expect(familyOf([half, { ...ofHalf, created_at: '2026-01-05T07:00:00.000Z' }], 'digits')).toHaveLength(1);
  });
});

test('a form has no field that its strategy refuses: only auto takes what may be lost', () => {
  const schemas = [...pruneSchemas(), ...quantizeSchemas()];
  const methods = methodsIn({ anyOf: schemas.map((schema) => z.toJSONSchema(schema, { io: 'input' })) });
  const takers = methods.filter(({ parameters }) => parameters.some(({ name }) => name === 'max_loss'));
  expect(new Set(takers.map(({ fixed }) => fixed['strategy']))).toEqual(new Set(['auto']));
});

test('a form names the fields in its hints as their labels do', () => {
  const schemas = [...pruneSchemas(), ...quantizeSchemas()];
  const methods = methodsIn({ anyOf: schemas.map((schema) => z.toJSONSchema(schema, { io: 'input' })) });
  const hints = methods.flatMap(({ description, parameters }) => [
    description,
    ...parameters.map((parameter) => parameter.description),
  ]);
  expect(hints.filter((hint) => hint.includes('loses at most “Max loss”'))).toHaveLength(3);
  expect(hints.filter((hint) => hint.includes('max_loss'))).toEqual([]);
});

describe('the form of a pruning', () => {
  const methods = methodsIn({
    anyOf: pruneSchemas().map((schema) => z.toJSONSchema(schema, { io: 'input' })),
  });

  test('begins with no method with which nothing would change', () => {
    expect(methods.length).toBeGreaterThan(5);
    for (const method of methods)
      expect([method.id, idleFault(method, beginningOf(method))]).toEqual([method.id, undefined]);
  });

  test('says so where somebody asks for that', () => {
    const [first] = methods;
    expect(first && idleFault(first, { compression: '1' })).toMatchObject({ name: 'compression' });
    expect(first && idleFault(first, { compression: ' ' })).toMatchObject({ name: 'compression' });
  });
});

test('the Pareto line goes through the points that no other beats in size and quality', () => {
  const at = (x: number, y: number) => ({ x, y });

  const front = paretoPoints([
    at(100, 0.9),
    at(25, 0.9),
    at(50, 0.8),
    at(10, 0.5),
    at(25, 0.7),
    at(200, 0.95),
  ]);

  expect(front).toEqual([at(10, 0.5), at(25, 0.9), at(200, 0.95)]);
});

test('what may be lost is a percentage above 0', () => {
  expect(['0.5', ' 2,5 ', '0.07', '100'].map(shareOf)).toEqual([0.005, 0.025, 0.0007, 1]);
  for (const text of ['', '0', '-1', 'half', 'Infinity', '1 %']) expect(shareOf(text), text).toBeUndefined();
});

test('an arrow key chooses the next version by size, Home and End the outermost ones', () => {
  const points = [
    { id: 'b', x: 20 },
    { id: 'a', x: 10 },
    { id: 'c', x: 20 },
  ].map((point, index) => ({ ...point, label: point.id, y: index, colour: '' }));
  const after = (id: string, key: string) => pointAfterKey(points, id, key)?.id;
  expect(['ArrowRight', 'ArrowUp', 'ArrowLeft', 'ArrowDown'].map((key) => after('b', key))).toEqual([
    'c',
    'c',
    'a',
    'a',
  ]);
  expect([after('c', 'ArrowRight'), after('a', 'ArrowLeft')]).toEqual(['c', 'a']);
  expect([after('b', 'Home'), after('b', 'End'), after('b', 'Enter')]).toEqual(['a', 'c', undefined]);
  // The chosen version need not be in the plot.
  expect([after('elsewhere', 'ArrowRight'), after('elsewhere', 'ArrowLeft')]).toEqual(['a', 'a']);
});
