/**
 * Return the address of a page of the console. Parameters without a value are left out.
 *
 * @param console_url address of the console, without a slash at its end; empty for a link within the console
 * @example
 * consoleLink('https://mps.example/console', ['models', 'a b'], { strategy: 's' });
 * // https://mps.example/console#/models/a%20b?strategy=s
 */
export function consoleLink(
  console_url: string,
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, value);
  const tail = search.toString();
  return `${console_url}#/${parts.map(encodeURIComponent).join('/')}${tail === '' ? '' : `?${tail}`}`;
}

/** Return the address of a service's console. The service's address has no slash at its end. */
export const consoleOf = (service: string): string => `${service}/console`;
