export const daySeconds = 24 * 60 * 60;

/** Days that a token lives. @throws Error that a flag's parser may throw */
export function days(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 365)
    throw new Error('must be a whole number from 1 to 365');
  return count;
}
