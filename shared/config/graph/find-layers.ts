import {
  type ConfigCollection,
  type ConfigMapping,
  type ConfigValue,
  emptyMapping,
  isMapping,
} from '../config-value.ts';

export interface Layer {
  name: string | undefined;
  type: string;
  body: ConfigMapping;
}

/** Find the layers of the model that a document describes, in order; undefined if it describes none. */
export function findLayers(data: ConfigCollection): Layer[] | undefined {
  if (Array.isArray(data)) return undefined;
  for (const place of places) {
    const value = place.reduce<ConfigValue | undefined>(
      (member, key) => (isMapping(member) ? member[key] : undefined),
      data,
    );
    const layers = asLayers(value, place.at(-1) === 'layers');
    if (layers !== undefined) return layers;
  }
  return yoloLayers(data) ?? (isMapping(data['model']) ? yoloLayers(data['model']) : undefined);
}

/**
 * Paths to layer lists: in plain files, in Keras (`config.layers`, `model_config` in HDF5 attributes) and in
 * nested models.
 */
const places: readonly (readonly string[])[] = [
  ...[
    ['layers'],
    ['model', 'layers'],
    ['network', 'layers'],
    ['architecture', 'layers'],
    ['config', 'layers'],
    ['net', 'layers'],
  ],
  ...[
    ['model', 'architecture', 'layers'],
    ['model', 'network', 'layers'],
    ['model', 'config', 'layers'],
  ],
  ...[['model_config', 'config', 'layers'], ['architecture'], ['model', 'architecture'], ['model']],
];

function asLayers(value: ConfigValue | undefined, mappingsToo: boolean): Layer[] | undefined {
  const list = Array.isArray(value)
    ? value.map(listed)
    : mappingsToo && isMapping(value)
      ? Object.entries(value).map(named)
      : [];
  const layers = list.filter((layer) => layer !== undefined);
  // A list without settings describes no layer: `layers: [64, 32]` lists widths and `layers: [fc1]` lists names.
  const described = layers.some(({ body }) => Object.keys(body).length > 0);
  return described && layers.length === list.length ? layers : undefined;
}

function listed(value: ConfigValue): Layer | undefined {
  if (typeof value === 'string') return { name: undefined, type: value, body: emptyMapping() };
  if (!isMapping(value)) return undefined;
  const type = typeOf(value);
  if (type !== undefined) return { name: nameOf(value), type, body: value };
  const [only, ...others] = Object.entries(value);
  if (only !== undefined && others.length === 0) return shortForm(only);
  const name = nameOf(value);
  return name === undefined ? undefined : { name, type: 'layer', body: value };
}

const typeKeys: readonly string[] = [
  'type',
  'class_name',
  '_target_',
  'class',
  'kind',
  'module',
  'op',
  'op_type',
  'layer',
];

function typeOf(body: ConfigMapping): string | undefined {
  for (const key of typeKeys) {
    const type = body[key];
    if (typeof type === 'string' && type !== '') return type;
  }
  return undefined;
}

function nameOf(body: ConfigMapping): string | undefined {
  const config = isMapping(body['config']) ? body['config'] : emptyMapping();
  return [body['name'], body['id'], config['name']]
    .find((name) => typeof name === 'string' && name !== '')
    ?.toString();
}

/** Read the short forms `- conv: {filters: 32}` and `- dense: 10`. */
function shortForm([type, value]: [string, ConfigValue]): Layer {
  if (isMapping(value)) return { name: nameOf(value), type, body: value };
  const body = emptyMapping();
  body['value'] = value;
  return { name: undefined, type, body };
}

function named([name, value]: [string, ConfigValue]): Layer | undefined {
  if (!isMapping(value)) return undefined;
  const type = typeOf(value);
  return type === undefined ? undefined : { name, type, body: value };
}

/** Read YOLO's `backbone` and `head`: rows of `[from, repeats, module, arguments]` with continuous indexes. */
function yoloLayers(data: ConfigMapping): Layer[] | undefined {
  const rows = ['backbone', 'neck', 'head'].flatMap((section) => {
    const list = data[section];
    return Array.isArray(list) ? list.map((row) => yoloLayer(row, section)) : [];
  });
  const layers = rows.filter((layer) => layer !== undefined);
  return layers.length > 0 && layers.length === rows.length ? layers : undefined;
}

function yoloLayer(row: ConfigValue, section: string): Layer | undefined {
  if (!Array.isArray(row)) return undefined;
  const [from = null, repeats = null, module, args = []] = row;
  if (typeof module !== 'string') return undefined;
  const body = emptyMapping();
  return { name: undefined, type: module, body: Object.assign(body, { from, repeats, args, section }) };
}
