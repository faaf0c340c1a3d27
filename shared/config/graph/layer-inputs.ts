import { type ConfigMapping, type ConfigValue, isMapping } from '../config-value.ts';

/** Name of a layer, or its index among all layers. */
export type LayerReference = string | number;

/**
 * Keys that name a layer's inputs, in place of the previous layer. `bottom` is Caffe's key, `inbound_nodes` is
 * Keras's.
 */
export const inputKeys: readonly string[] = [
  'inputs',
  'input',
  'from',
  'inbound_nodes',
  'bottom',
  'bottoms',
  'input_layers',
];

/**
 * Read the layers that a layer names as its inputs; undefined if it names none. Negative numbers count backwards,
 * others are indexes. If one of the numbers is no earlier layer, all are sizes: `inputs: 784` and `inputs: [3,
 * 224, 224]`.
 */
export function layerInputs(body: ConfigMapping, index: number): LayerReference[] | undefined {
  for (const key of inputKeys) {
    const value = body[key];
    if (value === undefined || value === null || isMapping(value)) continue;
    if (key === 'inbound_nodes') return kerasNames(value);
    const references = referencesIn(value, index, key === 'from');
    if (references !== undefined) return references;
  }
  return undefined;
}

/**
 * Read Keras inputs of the form `[name, node, tensor, …]`: directly in version 2, as `keras_history` in version 3.
 */
function kerasNames(value: ConfigValue): string[] {
  const names: string[] = [];
  const rest: ConfigValue[] = [value];
  for (let item = rest.pop(); item !== undefined; item = rest.pop()) {
    if (Array.isArray(item)) {
      const [name, node] = item;
      if (typeof name === 'string' && (typeof node === 'number' || item.length === 1)) names.push(name);
      else for (const inner of item.toReversed()) rest.push(inner);
    } else if (isMapping(item)) for (const inner of Object.values(item).reverse()) rest.push(inner);
    else if (typeof item === 'string' && value === item) names.push(item);
  }
  return names;
}

function referencesIn(
  value: ConfigValue | undefined,
  index: number,
  loneIndex: boolean,
): LayerReference[] | undefined {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return value < 0 || loneIndex ? absolute([value], index) : undefined;
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((item) => typeof item === 'string' || typeof item === 'number');
  return names.length === value.length ? absolute(names, index) : undefined;
}

function absolute(references: readonly LayerReference[], index: number): LayerReference[] | undefined {
  const resolved = references.map((item) => (typeof item === 'number' && item < 0 ? index + item : item));
  const valid = resolved.every(
    (item) => typeof item === 'string' || (Number.isInteger(item) && item < index),
  );
  return valid ? resolved : undefined;
}

/** Keys that give a layer's output a name of its own. */
export const outputKeys: readonly string[] = ['top', 'tops', 'outputs', 'output'];

/** Keys that add a skip connection to the regular input. */
const skipKeys: readonly string[] = [
  'residual',
  'residual_from',
  'skip',
  'skip_from',
  'shortcut',
  'shortcut_from',
  'add_from',
];

/** Read a layer's skip connections, each with the key that names it. */
export function layerSkips(body: ConfigMapping, index: number): { key: string; reference: LayerReference }[] {
  return skipKeys.flatMap((key) =>
    (referencesIn(body[key], index, false) ?? []).map((reference) => ({ key, reference })),
  );
}

/** Read the names of a layer's outputs, by which other layers refer to it. */
export function layerOutputs(body: ConfigMapping): string[] {
  return outputKeys.flatMap((key) => {
    const value = body[key];
    return (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string');
  });
}
