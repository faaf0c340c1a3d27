const segment = /^[A-Za-z0-9_.!~+@=-]+$/;

/**
 * The normal form (`a/b.whl`) of a path that a person gave relative to the source folder, or null when it is absolute,
 * leaves the folder, or holds characters that an installer could read as something other than a file name.
 */
export function normalRelativePath(path: string): string | null {
  if (path.length > 400) return null;
  const segments = path.replace(/^(?:\.\/)+/, '').split('/');
  const plain = segments.every((part) => segment.test(part) && part !== '.' && part !== '..');
  return plain && !segments[0]?.startsWith('-') ? segments.join('/') : null;
}
