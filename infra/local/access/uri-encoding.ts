/** Percent-encoding as SigV4 and `encoding-type=url` define it: everything but `A-Za-z0-9-._~`. */
export function encodeUri(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The same with slashes kept, for paths and keys. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeUri).join('/');
}
