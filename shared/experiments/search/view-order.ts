/**
 * Return the order of a saved view as a search writes it. It is empty, newest first, for a column that searches do not order
 * by, such as the least value of a metric.
 * @param sort the setting of the console's address, such as `-metrics.loss:last`
 */
export function viewOrder(sort: string): string {
  const column = sort.replace(/^-/, '');
  const direction = sort.startsWith('-') ? ' DESC' : '';
  // Views of earlier releases say `-best`.
  if (column === 'best') return 'best';
  if (column === 'worst') return 'best DESC';
  if (column === 'created') return `created_at${direction}`;
  if (/^(?:status|duration|kind|user|config|cost)$/.test(column)) return `${column}${direction}`;
  const [, group, name = ''] = /^(metrics|params|tags)\.(.+)$/s.exec(column) ?? [];
  const key = group === 'metrics' ? name.replace(/:last$/, '') : name;
  if (group === undefined || (group === 'metrics' && /:(?:min|max)$/.test(key))) return '';
  return `${group}."${key.replaceAll('"', '""')}"${direction}`;
}
