/** Encode one path segment. Refuse `.` and `..`: every URL parser resolves them, even when encoded. */
function encodedPart(part: string): string {
  if (/^\.{1,2}$/.test(part)) throw new RangeError(`"${part}" cannot be part of a path`);
  return encodeURIComponent(part);
}

/**
 * Fill in a path's parameters. `{name}` is one segment, `{name+}` several segments with slashes between them.
 *
 * @throws RangeError for a parameter that a URL cannot hold
 */
export function requestPath(path: string, parameters: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)(\+?)\}/g, (_, name: string, several: string) => {
    const value = String(parameters[name]);
    return several === '+' ? value.split('/').map(encodedPart).join('/') : encodedPart(value);
  });
}
