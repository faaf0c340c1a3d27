/** The fault of a package index's host; null if the host is allowed. Without the schema, which `mps` need not bundle. */
export function packageIndexFault(url: string, allowed: readonly string[]): string | null {
  const { origin, protocol, host } = new URL(url);
  if (allowed.some((entry) => originOf(entry) === origin)) return null;
  const shown = protocol === 'https:' ? host : origin;
  const list = allowed.length === 0 ? 'none is' : `allowed are ${allowed.join(', ')}`;
  return `${shown} is not an allowed package index of this deployment; ${list}. Its operator allows others: ${option}`;
}

const option = 'PACKAGE_INDEXES for npm start, packageIndexes of a deployment to AWS';

const originOf = (entry: string): string =>
  new URL(entry.includes('://') ? entry : `https://${entry}`).origin;
