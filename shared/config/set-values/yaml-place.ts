import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { composeYaml } from '../compose-yaml.ts';
import { numberAs } from './json-place.ts';
import { type Edit, indentAt, lineEnd, type Place } from './place.ts';
import { isMapping, type NewValue, NumberLiteral } from './typed-value.ts';
import { writtenKey, writtenValue } from './written-value.ts';

/** Return the root of a YAML text. */
export function yamlPlace(text: string): Place {
  const eol = lineEnd(text);
  const document = composeYaml(text, { keepSourceTokens: true });
  const contents = document?.contents;
  if (isEmpty(contents)) return emptyRoot();
  return placeOf(contents, []);

  /** A file of comments, or an empty mapping: its first member begins a line. */
  function emptyRoot(): Place {
    const [from, to] = contents?.range ?? [text.length, text.length];
    const gap = from === 0 || text[from - 1] === '\n' ? '' : eol;
    return {
      isList: false,
      children: new Map(),
      replace: (value) => ({ from, to, text: writtenValue('yaml', value) }),
      add: (key, value) => ({
        from,
        to,
        text: `${gap}${block(key, value, '')}${text[to] === undefined ? eol : ''}`,
      }),
    };
  }

  /** @param tokens what stands between a key and its value, such as an anchor and a tag */
  function placeOf(node: ParsedNode, tokens: readonly Token[]): Place {
    const isOpen = isMap(node) || isSeq(node);
    return {
      isList: isSeq(node),
      children: isOpen ? childrenOf(node) : undefined,
      replace: (value) => replacement(node, tokens, value),
      add: isMap(node) ? (key, value) => addition(node, key, value) : undefined,
    };
  }

  function childrenOf(node: YAMLMap | YAMLSeq): Map<string, Place> {
    const items = (node.srcToken as { items?: readonly Item[] } | undefined)?.items ?? [];
    const children = new Map<string, Place>();
    for (const [index, item] of node.items.entries()) {
      if (isPair(item)) {
        if (item.value === null) continue;
        const tokens = (item as { srcToken?: Item }).srcToken?.sep ?? [];
        children.set(
          isScalar(item.key) ? String(item.key.value) : '',
          placeOf(item.value as ParsedNode, tokens),
        );
      } else children.set(String(index), placeOf(item as ParsedNode, items[index]?.start ?? []));
    }
    return children;
  }

  function replacement(node: ParsedNode, tokens: readonly Token[], value: NewValue): Edit {
    const [start, end] = node.range;
    const before = text.slice(start, end);
    const written = numberAs(before, value, writtenValue('yaml', value));
    const tag = tokens.find(({ type }) => type === 'tag');
    const from = tag === undefined || keepsTag(node, tag.source, value) ? start : tag.offset;
    // An anchor after the tag stays.
    const between = text.slice(from, start).slice(tag?.source.length ?? 0);
    const kept = from === start ? '' : between.trimStart();
    const gap = from > 0 && /[^\s[{(]/.test(text[from - 1] ?? '') ? ' ' : '';
    const line = tokens.find(({ type }) => type === 'newline' || type === 'comment');
    if (isCollection(node) && node.flow !== true && line !== undefined)
      return onKeyLine(node, tokens, written);
    const tail = /\r?\n$/.exec(before)?.[0] ?? '';
    return { from, to: end, text: `${gap}${kept}${written}${tail}` };
  }

  /** Replace a collection in lines of its own by a value beside its key. A comment there stays. */
  function onKeyLine({ range: [start, end] }: ParsedNode, tokens: readonly Token[], written: string): Edit {
    const last = tokens.findLast(({ type }) => !['space', 'newline', 'comment', 'tag'].includes(type));
    const from = last === undefined ? start : last.offset + last.source.length;
    const note = text.slice(from, start).trimEnd();
    return { from, to: end, text: ` ${written}${note}${text[end - 1] === '\n' ? eol : ''}` };
  }

  function addition(node: YAMLMap, key: string, value: NewValue): Edit {
    const [first] = node.items;
    const last = node.items.at(-1);
    const [from] = node.range ?? [0];
    if (node.flow === true || first === undefined || last === undefined) {
      const at = last === undefined ? from + 1 : endOf(last.value ?? last.key);
      const pair = `${writtenKey('yaml', key)}: ${writtenValue('yaml', value)}`;
      return { from: at, to: at, text: last === undefined ? pair : `, ${pair}` };
    }
    const indent = indentAt(text, (first.key as ParsedNode).range[0]);
    const end = endOf(last.value ?? last.key);
    const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
    const lines = block(key, value, indent);
    return newline === -1
      ? { from: text.length, to: text.length, text: `${eol}${lines}${eol}` }
      : { from: newline + 1, to: newline + 1, text: `${lines}${eol}` };
  }

  /** Write a new member of a mapping in block style, its mappings in lines of their own. */
  function block(key: string, value: NewValue, indent: string): string {
    const start = `${indent}${writtenKey('yaml', key)}:`;
    const entries = isMapping(value) ? Object.entries(value) : [];
    if (entries.length === 0) return `${start} ${writtenValue('yaml', value)}`;
    return [start, ...entries.map(([name, one]) => block(name, one, `${indent}  `))].join(eol);
  }
}

interface Token {
  type: string;
  offset: number;
  source: string;
}

interface Item {
  start?: readonly Token[];
  sep?: readonly Token[];
}

const isEmpty = (node: unknown): node is null | undefined =>
  node === null ||
  node === undefined ||
  (isScalar(node) && node.value === null && node.source === '') ||
  (isMap(node) && node.items.length === 0);

/** Return the position after the last single value of a node. */
function endOf(node: unknown): number {
  if (isCollection(node) && node.flow !== true) {
    const last = node.items.at(-1);
    if (last !== undefined) return endOf(isPair(last) ? (last.value ?? last.key) : last);
  }
  return isScalar(node) || isAlias(node) || isCollection(node) ? (node.range?.[1] ?? 0) : 0;
}

/** Return whether a value keeps the tag of the one before: `!!float 1`, `!path /data`. A list of another kind does not. */
function keepsTag(node: ParsedNode, tag: string, value: NewValue): boolean {
  if (!isScalar(node) || (typeof value === 'object' && !(value instanceof NumberLiteral))) return false;
  const isNumber = typeof value === 'number' || value instanceof NumberLiteral;
  if (tag === '!!int') return isNumber && Number.isInteger(Number(value));
  if (tag === '!!float') return isNumber;
  return tag !== '!!bool' || typeof value === 'boolean';
}
