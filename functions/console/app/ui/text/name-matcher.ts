/**
 * Return whether names match what somebody types to find them: as a part of the name or as a regular expression,
 * whatever the case. Text that is no regular expression is only a part.
 */
export function nameMatcher(text: string): (name: string) => boolean {
  const part = text.toLowerCase();
  const pattern = patternOf(text);
  return (name) => name.toLowerCase().includes(part) || pattern?.test(name) === true;
}

function patternOf(text: string): RegExp | undefined {
  try {
    return new RegExp(text, 'i');
  } catch {
    return undefined;
  }
}
