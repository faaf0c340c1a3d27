import { type AST, parseTOML } from 'toml-eslint-parser';
import { numberAs } from './json-place.ts';
import { type Edit, lineEnd, type Place } from './place.ts';
import { SetValueError } from './set-value-error.ts';
import { isMapping, type NewValue } from './typed-value.ts';
import { writtenKey, writtenValue } from './written-value.ts';

/** Return the root of a TOML text. */
export function tomlPlace(text: string): Place {
  const eol = lineEnd(text);
  const root = tableOf([]);
  const [top] = parseTOML(text).body;
  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') put(root, node);
    else {
      const table = descend(root, node.resolvedKey.map(String));
      table.after = node.body.at(-1)?.range[1] ?? headerEnd(node);
      for (const pair of node.body) put(table, pair);
    }
  }
  return root;

  function put(table: Table, { key, value }: AST.TOMLKeyValue): void {
    const names = key.keys.map((one) => (one.type === 'TOMLBare' ? one.name : one.value));
    const last = names.pop() ?? '';
    const within = descend(table, names, table.isInline === true ? undefined : value.range[1]);
    within.children.set(last, placeOf(value));
    if (table.isInline !== true) table.after = Math.max(table.after ?? 0, value.range[1]);
  }

  /**
   * Return the table at a path below another one. Tables between are made.
   * @param after position after the value whose dotted key makes them
   */
  function descend(from: Table, keys: readonly string[], after?: number): Table {
    let at = from;
    for (const [index, key] of keys.entries()) {
      const next = (at.children.get(key) ?? tableOf([...at.path, key])) as Table;
      at.children.set(key, next);
      at = next;
      if (after !== undefined) Object.assign(at, { after, dotted: keys.slice(0, index + 1) });
    }
    return at;
  }

  function tableOf(path: readonly string[]): Table {
    const table: Table = {
      path,
      isList: false,
      children: new Map(),
      after: undefined,
      dotted: [],
      replace: () => {
        throw new SetValueError('it is a table; set its values');
      },
      add: (key, value) => addition(table, key, value),
    };
    return table;
  }

  function addition(
    { path, after, isInline, children, from, dotted }: Table,
    key: string,
    value: NewValue,
  ): Edit {
    const pair = pairText([...dotted, key], value);
    if (isInline === true) {
      const at = after ?? (from ?? 0) + 1;
      return { from: at, to: at, text: children.size > 0 ? `, ${pair}` : pair };
    }
    if (after !== undefined) {
      const end = text.indexOf('\n', after);
      const start = text.lastIndexOf('\n', after - 1) + 1;
      const indent = /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
      return end === -1
        ? { from: text.length, to: text.length, text: `${eol}${indent}${pair}${eol}` }
        : { from: end + 1, to: end + 1, text: `${indent}${pair}${eol}` };
    }
    if (path.length === 0) return { from: 0, to: 0, text: `${pair}${eol}` };
    const gap = text.endsWith('\n') ? '' : eol;
    const header = `[${path.map((name) => writtenKey('toml', name)).join('.')}]`;
    return { from: text.length, to: text.length, text: `${gap}${eol}${header}${eol}${pair}${eol}` };
  }

  function placeOf(node: AST.TOMLContentNode): Place {
    const [from, to] = node.range;
    const replace = (value: NewValue): Edit => ({
      from,
      to,
      text: numberAs(text.slice(from, to), value, writtenValue('toml', value)),
    });
    if (node.type === 'TOMLArray')
      return {
        isList: true,
        children: new Map(node.elements.map((element, index) => [String(index), placeOf(element)])),
        replace,
        add: undefined,
      };
    if (node.type !== 'TOMLInlineTable')
      return { isList: false, children: undefined, replace, add: undefined };
    const table = Object.assign(tableOf([]), { isInline: true, from, replace });
    for (const pair of node.body) put(table, pair);
    const end = node.body.at(-1)?.range[1];
    return Object.assign(table, { after: end });
  }
}

interface Table extends Place {
  path: readonly string[];
  children: Map<string, Place>;
  /** Position after its last value, or after its header; undefined for a table without a line of its own. */
  after: number | undefined;
  /** Keys before those of its values, where dotted keys make it. */
  dotted: readonly string[];
  isInline?: boolean;
  from?: number;
}

const headerEnd = (node: AST.TOMLTable): number => node.key.range[1] + (node.kind === 'array' ? 2 : 1);

/** Write `key = value`, a new mapping as a dotted key: `optimizer.lr = 0.1`. */
function pairText(keys: readonly string[], value: NewValue): string {
  const [only, ...others] = isMapping(value) ? Object.entries(value) : [];
  if (only !== undefined && others.length === 0) return pairText([...keys, only[0]], only[1]);
  return `${keys.map((key) => writtenKey('toml', key)).join('.')} = ${writtenValue('toml', value)}`;
}
