/**
 * Return the expression of a pattern in which `*` stands for any characters and `?` for one.
 * @example wildcards('a*').test('abc'); // true
 */
export function wildcards(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's');
}
