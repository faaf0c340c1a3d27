/**
 * The path of a request as a path from the root of its host, without slashes at its end: `/v1/console`, or nothing for
 * the root. Links are made from it. A path that began with two slashes would name another host.
 *
 * @param requestPath as the caller sees it, such as `//v1/console/`
 */
export function pathOfHost(requestPath: string): string {
  const path = requestPath.replace(/^\/+|\/+$/g, '');
  return path === '' ? '' : `/${path}`;
}
