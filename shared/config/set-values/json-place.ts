import { type JsonSpan, parseJson } from '../parse-json.ts';
import { type Edit, indentAt, lineEnd, type Place } from './place.ts';
import type { NewValue } from './typed-value.ts';
import { isFloat, writtenKey, writtenValue } from './written-value.ts';

/** Return the root of a JSON text. */
export function jsonPlace(text: string): Place {
  const source = text.trim() === '' ? '{}' : text;
  let root: JsonSpan = { keyFrom: 0, from: 0, to: 0, members: undefined };
  parseJson(source, (span) => {
    root = span;
  });
  return placeOf(root);

  function placeOf(span: JsonSpan): Place {
    const { from, to, members } = span;
    const isList = source[from] === '[';
    return {
      isList,
      children: members && new Map([...members].map(([key, member]) => [key, placeOf(member)])),
      replace: (value) => ({
        from,
        to,
        text: numberAs(source.slice(from, to), value, writtenValue('json', value)),
      }),
      add: members && ((key, value) => addition(span, members, key, value)),
    };
  }

  function addition(
    { from, to }: JsonSpan,
    members: ReadonlyMap<string, JsonSpan>,
    key: string,
    value: NewValue,
  ): Edit {
    const member = `${writtenKey('json', key)}: ${writtenValue('json', value)}`;
    if (text !== source) return { from: 0, to: text.length, text: `{${member}}\n` };
    const last = [...members.values()].at(-1);
    if (last === undefined) return { from: from + 1, to: to - 1, text: member };
    const isBlock = source.slice(from, last.keyFrom).includes('\n');
    const blank = isBlock ? `${lineEnd(source)}${indentAt(source, last.keyFrom)}` : ' ';
    return { from: last.to, to: last.to, text: `,${blank}${member}` };
  }
}

/** Keep a float of the file a float: write 1 as 1.0, unless the value says otherwise. */
export function numberAs(before: string, value: NewValue, written: string): string {
  return typeof value === 'number' && isFloat(before) && /^-?\d+$/.test(written) ? `${written}.0` : written;
}
