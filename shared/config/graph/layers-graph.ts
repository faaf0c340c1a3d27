import { type ConfigMapping, isMapping } from '../config-value.ts';
import type { Layer } from './find-layers.ts';
import { GraphDraft } from './graph-draft.ts';
import { inputKeys, type LayerReference, layerInputs, layerOutputs, layerSkips } from './layer-inputs.ts';
import { attributesOf } from './node-attributes.ts';

const notAttributes: ReadonlySet<string> = new Set([
  ...inputKeys,
  'name',
  'id',
  'type',
  'class_name',
  'registered_name',
  'module',
]);

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
