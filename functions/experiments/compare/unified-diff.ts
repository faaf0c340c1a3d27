import { createTwoFilesPatch } from 'diff';

/** The unified diff of two texts; null if they are equal. */
export function unifiedDiff(name: string, former: string, latter: string): string | null {
  if (former === latter) return null;
  const patch = createTwoFilesPatch(`a/${name}`, `b/${name}`, former, latter, '', '', {
    context: 3,
    timeout: patience,
  });
  return patch ?? `--- a/${name}\n+++ b/${name}\n${lines('-', former)}${lines('+', latter)}`;
}

/** Diff timeout in milliseconds. After it, the diff replaces every line. */
const patience = 1000;

const lines = (sign: string, text: string): string =>
  text
    .split('\n')
    .map((line) => `${sign}${line}\n`)
    .join('');
