import { type ConfigScalar, type ConfigValue, isMapping } from './config-value.ts';

/**
 * Return the single values of a configuration, each with its path. Items of lists have their index, as in `layers.0`.
 *
 * @example
 * [...scalarLeaves({ optimizer: { lr: 0.1 } })]; // [['optimizer.lr', 0.1]]
 */
export function* scalarLeaves(value: ConfigValue, path = ''): Generator<readonly [string, ConfigScalar]> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield* scalarLeaves(one, `${path}${path && '.'}${index}`);
  } else if (isMapping(value)) {
    for (const [name, one] of Object.entries(value)) yield* scalarLeaves(one, `${path}${path && '.'}${name}`);
  } else {
    yield [path, value];
  }
}
