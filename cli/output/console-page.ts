/**
 * Return the address of a page of the service's console.
 *
 * @param service address of the service, without a slash at its end
 * @example
 * consolePage('https://mps.example', 'projects', 'p1'); // https://mps.example/console#/projects/p1
 */
export const consolePage = (service: string, ...parts: readonly string[]): string =>
  `${service}/console#/${parts.map(encodeURIComponent).join('/')}`;
