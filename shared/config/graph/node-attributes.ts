import type { ConfigList, ConfigMapping, ConfigScalar, ConfigValue } from '../config-value.ts';
import type { ConfigGraphNode } from './config-graph.ts';
import { clip, maxTextLength } from './draw/clip.ts';

export function isScalar(value: ConfigValue | undefined): value is ConfigScalar {
  return value !== undefined && (typeof value !== 'object' || value === null);
}

export function isScalarList(value: ConfigValue | undefined): value is ConfigScalar[] {
  return Array.isArray(value) && value.every(isScalar);
}

/** Collect the small members of a mapping: scalars, and lists of scalars as one text. Leave out nested members. */
export function attributesOf(
  mapping: ConfigMapping,
  except: ReadonlySet<string> = new Set(),
): ConfigGraphNode['attributes'] {
  const attributes: ConfigGraphNode['attributes'] = Object.create(null);
  for (const [key, value] of Object.entries(mapping)) {
    if (except.has(key)) continue;
    if (isScalar(value)) attributes[clip(key)] = smallScalar(value);
    else if (isScalarList(value)) attributes[clip(key)] = clip(joined(value));
  }
  return attributes;
}

/** Convert a scalar to an attribute. Cut long texts. */
export function smallScalar(value: ConfigScalar): ConfigScalar {
  return typeof value === 'string' ? clip(value) : value;
}

/** Join a list of scalars with commas. Stop when the text is as long as can be shown. */
export function joined(list: ConfigList): string {
  let text = '';
  for (const item of list) {
    if (text.length > maxTextLength) break;
    text += `${text === '' ? '' : ', '}${isScalar(item) ? smallScalar(item) : '…'}`;
  }
  return text;
}
