import * as z from 'zod';
import type { FieldsMask } from './parse-mask.ts';
import { alternativesOf } from './schema-shape.ts';

const maxCharacters = 6_000;

/**
 * The query parameter `fields` of an operation that returns rows of this schema. Of a field that has values by name, such
 * as `metrics`, it may ask for one: `metrics.loss`.
 */
export function fieldsParameter(row: z.ZodObject) {
  const known = Object.keys(row.shape);
  const named = known.filter((name) => hasAnyName(row.shape[name]));
  const isKnown = ({ field, name }: AskedField) => (name === undefined ? known : named).includes(field);
  return z
    .string()
    .max(maxCharacters, `is longer than ${maxCharacters} characters`)
    .superRefine((text, { addIssue }) => {
      const unknown = readFields(text).find((each) => !isKnown(each));
      if (unknown === undefined) return;
      addIssue(
        `has the unknown field ${unknown.text === '' ? '"" (at a comma)' : unknown.text}; allowed are ${known.join(', ')}, and single names of ${named.join(', ')}, such as ${named[0]}.a`,
      );
    })
    .optional()
    .describe(
      `Fields to return, separated by commas. Default: all. Of ${named.map((name) => `\`${name}\``).join(', ')} also single names, such as \`${named[0]}.a\`; a name with a comma or with blanks around it stands in backticks, as in \`filter\`.`,
    );
}

/** Whether a field has values by any name. */
const hasAnyName = (schema: z.ZodType | undefined): boolean =>
  schema !== undefined &&
  alternativesOf(schema).some(({ shape }) => shape.kind === 'object' && shape.rest !== undefined);

interface AskedField {
  text: string;
  field: string;
  /** Name of a value of the field; undefined for the whole field. */
  name: string | undefined;
}

function readFields(text: string): AskedField[] {
  return [...`${text},`.matchAll(/((?:[^,`]|`[^`]*`|`)*),/g)].map(([, untrimmed = '']) => {
    const piece = untrimmed.trim();
    const dot = piece.indexOf('.');
    if (dot < 0) return { text: piece, field: piece, name: undefined };
    const [, quoted] = /^`(.*)`$/s.exec(piece.slice(dot + 1)) ?? [];
    const name = quoted?.replaceAll('``', '`') ?? piece.slice(dot + 1);
    return { text: piece, field: piece.slice(0, dot), name };
  });
}

/** The mask of the query parameter `fields`; undefined if it is absent. */
export function maskOfFields(query: unknown): FieldsMask | undefined {
  if (typeof query !== 'object' || query === null || !('fields' in query)) return undefined;
  if (typeof query.fields !== 'string') return undefined;
  const mask = new Map<string, true | Map<string, true>>();
  for (const { field, name } of readFields(query.fields)) {
    const before = mask.get(field);
    if (name === undefined || before === true) mask.set(field, true);
    else mask.set(field, (before ?? new Map<string, true>()).set(name, true));
  }
  return mask;
}
