import { nearestName } from '../../../../../shared/core/nearest-name.ts';
import { decimalPattern } from '../../../../../shared/core/text/decimal.ts';
import { namesIn } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';

type Names = ReturnType<typeof namesIn>;

/** What somebody typed without the grammar of filters. */
export interface FreeFilter {
  /** Conditions in the grammar; empty without any. */
  conditions: string;
  /** Words that a row must have somewhere. */
  words: readonly string[];
}

const condition =
  /(`[^`]+`|"[^"]+"|[\p{L}_][\p{L}\p{N}_./-]*)\s*(!=|<=|>=|==|=|<|>|:)\s*('(?:[^']|'')*'|"[^"]*"|[^\s,]+)/gu;
const attributes = new Set(
  'name status kind user config created_at started_at stopped_at duration cost best'.split(' '),
);

const kept = new WeakMap<readonly Row[], Names>();

/** Return the names of rows, read once for each list. */
export function namesOfRows(rows: readonly Row[]): Names {
  const names = kept.get(rows) ?? namesIn(rows);
  kept.set(rows, names);
  return names;
}

const quoted = (name: string): string => (/^[\w.]+$/.test(name) ? name : `\`${name.replaceAll('`', '``')}\``);

/** Find the group of a name that was typed without one: a param, a metric or a tag. */
function groupOf(name: string, { params, metrics, tags }: Names): string | undefined {
  for (const [group, list] of [
    ['params', params],
    ['metrics', metrics],
    ['tags', tags],
  ] as const) {
    const found =
      list.find((one) => one === name) ?? list.find((one) => one.toLowerCase() === name.toLowerCase());
    if (found !== undefined) return `${group}.${quoted(found)}`;
  }
  return undefined;
}

const textOf = (value: string): string => value.replace(/^(['"])(.*)\1$/s, '$2');
const inQuotes = (value: string): string => `'${textOf(value).replaceAll("'", "''")}'`;

/**
 * Read what looks like conditions and words: `lr < 0.001`, `optimizer = adam`, `status = failed`, `adam`.
 *
 * @throws UnknownNameError for a name that no row has
 */
export function readFreely(text: string, names: Names): FreeFilter {
  const found: string[] = [];
  const rest = text.replace(condition, (_, typed: string, sign: string, value: string) => {
    const name = typed.replace(/^[`"](.*)[`"]$/s, '$1');
    const isAttribute = attributes.has(name.toLowerCase());
    const [, group, key] = /^(params?|metrics?|tags?|parameters)\.(.+)$/s.exec(name) ?? [];
    const resolved = isAttribute
      ? name.toLowerCase()
      : group !== undefined
        ? `${group}.${quoted(key ?? '')}`
        : groupOf(name, names);
    if (resolved === undefined)
      throw new UnknownNameError(name, nearestName(name, [...names.params, ...names.metrics, ...names.tags]));
    const comparison = sign === ':' || sign === '==' ? '=' : sign;
    const isStatus = resolved === 'status';
    const shown = decimalPattern.test(value) ? value : inQuotes(isStatus ? value.toUpperCase() : value);
    found.push(`${resolved} ${comparison} ${shown}`);
    return ' ';
  });
  const words = rest
    .split(/[\s,]+/)
    .filter((word) => word !== '' && !/^and$/i.test(word))
    .map((word) => word.toLowerCase());
  return { conditions: found.join(' AND '), words };
}

/** A name that no experiment has. */
export class UnknownNameError extends Error {
  override readonly name = 'UnknownNameError';
  constructor(typed: string, nearest: string | undefined) {
    super(
      `No experiment has a param, metric or tag “${typed}”.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`,
    );
  }
}

const texts = new WeakMap<Row, string>();

/** Return whether a row has all words: in its name, status, ID, configuration, params or tags. */
export function hasWords(row: Row, words: readonly string[]): boolean {
  let text = texts.get(row);
  if (text === undefined) {
    const { name, experiment_id, status, config_id, params, tags } = row;
    text =
      `${name} ${experiment_id} ${status} ${config_id ?? ''} ${Object.values(params).join(' ')} ${Object.values(tags).join(' ')}`.toLowerCase();
    texts.set(row, text);
  }
  return words.every((word) => text.includes(word));
}
