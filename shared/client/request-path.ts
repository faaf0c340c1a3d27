/** A part of a path as data. `.` and `..` would be resolved away by every URL parser, encoded or not. */
function encodedPart(part: string): string {
  if (/^\.{1,2}$/.test(part)) throw new RangeError(`"${part}" cannot be part of a path`);
  return encodeURIComponent(part);
}

/**
 * Puts parameters into a path: `{name}` is one part, `{name+}` several with slashes between them.
 *
 * @throws RangeError for a parameter that no URL can hold
 */
export function requestPath(path: string, parameters: Readonly<Record<string, unknown>>): string {
  return path.replaceAll(/\{(\w+)(\+?)\}/g, (_, name: string, several: string) => {
    const value = String(parameters[name]);
    return several === '+' ? value.split('/').map(encodedPart).join('/') : encodedPart(value);
  });
}
