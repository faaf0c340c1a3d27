/**
 * The table of a document that has the first line of this one, so that a comparison of the two shows the rows that
 * differ, and not the whole document.
 */
export function tableLike(table: string, document: string): string {
  const lines = document.split('\n');
  const start = lines.indexOf(table.split('\n')[0] ?? '');
  if (start === -1) return '';
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start, end === -1 ? undefined : end).join('\n');
}
