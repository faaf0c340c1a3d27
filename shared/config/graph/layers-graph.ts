import { type ConfigMapping, type ConfigValue, isMapping } from '../config-value.ts';
import type { Layer } from './find-layers.ts';
import { GraphDraft } from './graph-draft.ts';
import { attributesOf } from './node-attributes.ts';

/**
 * Keys that name a layer's inputs, in place of the previous layer. `bottom` is Caffe's key, `inbound_nodes` is
 * Keras's.
 */
const inputKeys: readonly string[] = [
  'inputs',
  'input',
  'from',
  'inbound_nodes',
  'bottom',
  'bottoms',
  'input_layers',
];

const notAttributes: ReadonlySet<string> = new Set([
  ...inputKeys,
  'name',
  'id',
  'type',
  'class_name',
  'registered_name',
  'module',
]);

/** Name of a layer, or its index among all layers. */
type LayerReference = string | number;

const startsModel = /^(?:.*\.)?input(?:_?layer|_?data)?\d*$/i;

/**
 * Build the graph of layers. An edge leads from each layer to the layers that use its output: the next one, unless
 * a layer names its inputs.
 */
export function layersGraph(layers: readonly Layer[]): GraphDraft {
  const draft = new GraphDraft();
  const ids = layers.map(({ name, type, body }, index) =>
    draft.addNode(
      name ?? `${index}`,
      name ?? shortType(type),
      shortType(type),
      attributesOf(settingsOf(body), notAttributes),
    ),
  );
  const anywhere = new Map<string, string>();
  const latest = new Map<string, string>();
  const outputs = layers.map(({ name, body }) => [
    ...(name === undefined ? [] : [name]),
    ...layerOutputs(body),
  ]);
  for (const [index, id] of ids.entries())
    for (const name of outputs[index] ?? []) if (!anywhere.has(name)) anywhere.set(name, id);

  // If layers share a name (Caffe's in-place layers), the name means the nearest earlier layer.
  const resolve = (reference: LayerReference): string | undefined =>
    typeof reference === 'number' ? ids[reference] : (latest.get(reference) ?? anywhere.get(reference));

  for (const [index, { type, body }] of layers.entries()) {
    const id = ids[index] ?? '';
    const before = startsModel.test(type) ? [] : [index - 1];
    for (const reference of layerInputs(body, index) ?? before) draft.connect(resolve(reference), id);
    for (const { key, reference } of layerSkips(body, index)) draft.connect(resolve(reference), id, key);
    for (const name of outputs[index] ?? []) latest.set(name, id);
  }
  return draft;
}

/** Return the class name of a type such as `torch.nn.Conv2d`. */
function shortType(type: string): string {
  return /^[\w.]+\.(\w+)$/.exec(type)?.[1] ?? type;
}

/** Return a layer's settings. Keras nests them in `config`, Hydra and others in `params` or `args`. */
function settingsOf(body: ConfigMapping): ConfigMapping {
  const nested = [body['config'], body['params'], body['args'], body['kwargs']].filter(isMapping);
  return Object.assign(Object.create(null), ...nested, body);
}

/** Keys that give a layer's output a name of its own. */
const outputKeys: readonly string[] = ['top', 'tops', 'outputs', 'output'];

/** Read the names of a layer's outputs, by which other layers refer to it. */
function layerOutputs(body: ConfigMapping): string[] {
  return outputKeys.flatMap((key) => {
    const value = body[key];
    return (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string');
  });
}

/**
 * Read the layers that a layer names as its inputs; undefined if it names none. Negative numbers count backwards,
 * others are indexes. If one of the numbers is no earlier layer, all are sizes: `inputs: 784` and `inputs: [3,
 * 224, 224]`.
 */
function layerInputs(body: ConfigMapping, index: number): LayerReference[] | undefined {
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
function layerSkips(body: ConfigMapping, index: number): { key: string; reference: LayerReference }[] {
  return skipKeys.flatMap((key) =>
    (referencesIn(body[key], index, false) ?? []).map((reference) => ({ key, reference })),
  );
}
