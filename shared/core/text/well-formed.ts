/**
 * Whether a string anywhere in a JSON value, keys included, holds a lone surrogate: UTF-8 has no bytes for it, so no
 * store could keep it. Goes through the value without recursion, because `JSON.parse` takes any depth.
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

/** The message for a parameter that holds a lone surrogate. */
export const illFormed = 'holds half a character (a surrogate without its other half)';

/** The value with U+FFFD for every lone surrogate: the value itself where it holds none. */
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
