import type { Names } from '../../runs/columns.ts';
import type { Row } from '../../runs/row.ts';
import { nameText, valueText } from './conditions.ts';

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
  const compared = /(`[^`]+`|[^\s=!<>~,()'"`]+)\s*(!=|<=|>=|=|<|>)\s*([^\s']*)$/.exec(filter);
  if (compared !== null) {
    const [whole, name = '', sign = '', typed = ''] = compared;
    // A bound is a round number of one's own. A list of longer ones would only cover the rows.
    if (/[<>]/.test(sign)) return [];
    const key = name.replace(/^(?:params|tags)\./, '').replaceAll('`', '');
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
        filter: `${filter.slice(0, filter.length - whole.length)}${name} ${sign} ${valueText(value)} `,
      }));
  }
  const named = /(?:^|[\s(])(`[^`]+`|[^\s=!<>~,()'"`]+)(\s*)$/.exec(filter);
  if (named === null) return [];
  const [, typed = '', space] = named;
  const all = [
    ...attributes.map((name) => ({ name, about: 'attribute', text: name })),
    ...names.params.map((name) => ({ name, about: 'param', text: nameText(name, 'params') })),
    ...names.metrics.map((name) => ({ name, about: 'metric', text: nameText(name, 'metrics') })),
    ...names.tags.map((name) => ({ name, about: 'tag', text: nameText(name, 'tags') })),
  ];
  const before = filter.slice(0, filter.length - typed.length - (space?.length ?? 0));
  if (space !== '') {
    if (!all.some(({ text }) => text === typed)) return [];
    return ['=', '!=', '<', '>', '<=', '>=', '~', 'in ('].map((sign) => ({
      label: `${typed} ${sign}`,
      about: 'comparison',
      filter: `${before}${typed} ${sign} `,
    }));
  }
  const part = typed.replaceAll('`', '').toLowerCase();
  const starts = all.filter(({ name, text }) => name.toLowerCase().startsWith(part) && text !== typed);
  const holds = all.filter(
    ({ name }) => !name.toLowerCase().startsWith(part) && name.toLowerCase().includes(part),
  );
  return [...starts, ...holds]
    .slice(0, most)
    .map(({ name, about, text }) => ({ label: name, about, filter: `${before}${text} ` }));
}
