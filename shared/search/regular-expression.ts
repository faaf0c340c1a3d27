import { RE2JS } from 're2js';

/** Compiled regular expression. */
export interface RegularExpression {
  test(text: string): boolean;
  /** Most steps for each character of a text. */
  passes: number;
}

/**
 * Compile a regular expression that takes time proportional to the text, whatever it is (RE2's syntax, which has no
 * backreferences). Return what is wrong with another one.
 */
export function regularExpression(pattern: string): RegularExpression | string {
  if (pattern.length > maxPattern) return `a regular expression of at most ${maxPattern} characters`;
  try {
    const compiled = RE2JS.compile(pattern);
    const size = compiled.programSize();
    if (size > maxProgram) return 'a regular expression with fewer repetitions';
    return { test: (text) => compiled.matcher(text).find(), passes: Math.max(1, Math.ceil(size / 2)) };
  } catch (error) {
    return `a regular expression (${error instanceof Error ? error.message : String(error)})`;
  }
}

const maxPattern = 500;

/** Instructions of a compiled expression, all of which one character may meet. */
const maxProgram = 1_000;
