import { describe, expect, test } from 'vitest';
import { linearize } from '../../proofs/faults/histories/linearize.ts';
import {
  configDeleted,
  configPut,
  counts,
  isConfig,
  isNoConfig,
  type ProjectState,
} from '../../proofs/faults/histories/project-world.ts';
import { World } from '../../proofs/faults/histories/world.ts';

const empty: ProjectState = {
  isMade: true,
  project: { name: 'digits', version: 1 },
  configs: {},
  deletedConfigs: {},
  experiments: {},
};
const newWorld = () => new World('test', empty);
const put = (text: string, version: number) => configPut('a', text, version, undefined);

describe('the search for a sequential order finds that', () => {
  test('concurrent writes may have come in either order', () => {
    const world = newWorld();
    world.note({ from: 1, to: 10 }, 'put', [put('one', 2)]);
    world.note({ from: 2, to: 9 }, 'put', [put('two', 1)]);
    world.note({ from: 11, to: 12 }, 'read', [isConfig('a', 2, 'one')]);
    expect(linearize(world.initial, world.steps).isLinear).toBe(true);
  });

  test('a write was lost', () => {
    const world = newWorld();
    world.note({ from: 1, to: 10 }, 'put', [put('one', 1)]);
    world.note({ from: 2, to: 9 }, 'put', [put('two', 1)]);
    expect(linearize(world.initial, world.steps).isLinear).toBe(false);
  });

  test('a read was stale', () => {
    const world = newWorld();
    world.note({ from: 1, to: 2 }, 'put', [put('one', 1)]);
    world.note({ from: 3, to: 4 }, 'put', [put('two', 2)]);
    world.note({ from: 5, to: 6 }, 'read', [isConfig('a', 1, 'one')]);
    const { isLinear, stuck } = linearize(world.initial, world.steps);
    expect(isLinear).toBe(false);
    expect(stuck.map(({ what }) => what)).toEqual(['read']);
  });

  test('what was deleted came back', () => {
    const world = newWorld();
    world.note({ from: 1, to: 2 }, 'put', [put('one', 1)]);
    world.note({ from: 3, to: 8 }, 'delete', [configDeleted('a', 1, undefined)]);
    world.note({ from: 4, to: 5 }, 'read', [isNoConfig('a')]);
    world.note({ from: 6, to: 7 }, 'read', [isConfig('a', 1, 'one')]);
    expect(linearize(world.initial, world.steps).isLinear).toBe(false);
  });

  test('a counter went another way than what it counts', () => {
    const world = newWorld();
    world.note({ from: 1, to: 2 }, 'put', [put('one', 1)]);
    world.note({ from: 3, to: 4 }, 'read', [counts(2, 0)]);
    expect(linearize(world.initial, world.steps).isLinear).toBe(false);
  });

  test('the steps of one request were in their order', () => {
    const steps = [[isConfig('a', 1, 'one')], [isNoConfig('a')]];
    const verdict = (given: typeof steps) => {
      const world = newWorld();
      world.note({ from: 1, to: 10 }, 'put', [put('one', 1)]);
      world.note({ from: 11, to: 12 }, 'delete', [configDeleted('a', 1, undefined)]);
      world.note({ from: 3, to: 20 }, 'two looks', ...given);
      return linearize(world.initial, world.steps).isLinear;
    };
    expect(verdict(steps)).toBe(true);
    // First not there, then there, is possible too; there, not there, there again is not.
    expect(verdict(steps.toReversed())).toBe(true);
    expect(verdict([...steps, ...steps])).toBe(false);
  });
});
