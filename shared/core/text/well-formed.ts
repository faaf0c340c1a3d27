/**
 * Whether no string of a JSON value, keys included, contains a lone surrogate. UTF-8 cannot encode a lone
 * surrogate, so no store could keep it. Avoids recursion, because `JSON.parse` accepts any depth.
 */
export function isWellFormed(value: unknown): boolean {
  const left = [value];
  while (left.length > 0) {
    const one = left.pop();
    if (typeof one === 'string') {
      if (!one.isWellFormed()) return false;
    } else if (Array.isArray(one)) {
      for (const element of one) left.push(element);
    } else if (typeof one === 'object' && one !== null && !ArrayBuffer.isView(one)) {
      for (const [name, member] of Object.entries(one)) left.push(name, member);
    }
  }
  return true;
}

/** The message for a parameter that contains a lone surrogate. */
export const illFormed = 'contains half a character (a surrogate without its other half)';

/** Replace every lone surrogate by U+FFFD. Returns the value itself if it contains none. */
export function toWellFormed(value: unknown): unknown {
  return isWellFormed(value) ? value : replaced(value);
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(replaced);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), replaced(member)]),
  );
}
