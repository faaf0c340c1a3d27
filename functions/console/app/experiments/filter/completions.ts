import type { Names } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';

/** Text that completes a filter. */
export interface Completion {
  label: string;
  about: string;
  /** The whole filter with the completion. */
  filter: string;
}

const most = 8;
const attributes = ['status', 'name', 'kind', 'user', 'config', 'created_at', 'duration', 'cost', 'best'];
const statuses = ['SUCCEEDED', 'FAILED', 'RUNNING', 'CANCELLED', 'SUBMITTED'];

/** Complete what is at the end of a filter: a name, an operator after a name, or a known value after an operator. */
export function completionsOf(filter: string, rows: readonly Row[], names: Names): Completion[] {
  const compared = /([\w./-]+)\s*(!=|<=|>=|=|<|>)\s*([^\s']*)$/.exec(filter);
  if (compared !== null) {
    const [whole, name = '', sign = '', typed = ''] = compared;
    // A bound is a round number of one's own. A list of longer ones would only cover the rows.
    if (/[<>]/.test(sign)) return [];
    const key = name.replace(/^(?:params|tags)\./, '');
    const known = (row: Row) => (name === 'user' ? row.user : (row.params[key] ?? row.tags[key])) ?? [];
    const values = name === 'status' ? statuses : [...new Set(rows.slice(0, 2_000).flatMap(known))].sort();
    return values
      .filter(
        (value) =>
          value.length < 60 && value.toLowerCase().startsWith(typed.toLowerCase()) && value !== typed,
      )
      .slice(0, most)
      .map((value) => ({
        label: value,
        about: name,
        filter: `${filter.slice(0, filter.length - whole.length)}${name} ${sign} ${/^[\w.+-]+$/.test(value) ? value : `'${value}'`} `,
      }));
  }
  const named = /(?:^|\s)([\w./-]+)(\s*)$/.exec(filter);
  if (named === null) return [];
  const [, typed = '', space] = named;
  const all = [
    ...attributes.map((name) => ({ name, about: 'attribute' })),
    ...names.params.map((name) => ({ name, about: 'param' })),
    ...names.metrics.map((name) => ({ name, about: 'metric' })),
    ...names.tags.map((name) => ({ name, about: 'tag' })),
  ];
  const before = filter.slice(0, filter.length - typed.length - (space?.length ?? 0));
  if (space !== '') {
    if (!all.some(({ name }) => name === typed)) return [];
    return ['=', '!=', '<', '>', '<=', '>=', '~', 'in ('].map((sign) => ({
      label: `${typed} ${sign}`,
      about: 'comparison',
      filter: `${before}${typed} ${sign} `,
    }));
  }
  const text = typed.toLowerCase();
  const starts = all.filter(({ name }) => name.toLowerCase().startsWith(text) && name !== typed);
  const holds = all.filter(
    ({ name }) => !name.toLowerCase().startsWith(text) && name.toLowerCase().includes(text),
  );
  return [...starts, ...holds]
    .slice(0, most)
    .map(({ name, about }) => ({ label: name, about, filter: `${before}${name} ` }));
}
