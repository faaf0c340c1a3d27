import type { NewValue } from './typed-value.ts';

/** A value in the text of a configuration. */
export interface Place {
  isList: boolean;
  /** Values within by key or index; undefined for a single value, and for an alias. */
  children: ReadonlyMap<string, Place> | undefined;
  /** Return the edit that writes another value here. */
  replace(value: NewValue): Edit;
  /** Return the edit that adds a member to this mapping, or to another one in its place; undefined for a single value. */
  add: ((key: string, value: NewValue) => Edit) | undefined;
}

/** Characters `from` to `to` of a text, and the text that replaces them. */
export interface Edit {
  from: number;
  to: number;
  text: string;
}

/** Return the line end of a text. */
export const lineEnd = (text: string): string => (/\r?\n/.exec(text)?.[0] === '\r\n' ? '\r\n' : '\n');

/** Return the indentation of the line that holds a position, up to the position, as blanks. */
export function indentAt(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  return text.slice(start, at).replaceAll(/[^\t]/g, ' ');
}
