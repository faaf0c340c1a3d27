import { createTwoFilesPatch } from 'diff';

/** Work that the diffs of one request may still do, in steps. */
export interface DiffBudget {
  steps: number;
}

/**
 * The unified diff of two texts; null if they are equal. It takes its steps from the budget. Without enough of them
 * it removes and adds every line, and its hunk says so.
 */
export function unifiedDiff(name: string, former: string, latter: string, budget: DiffBudget): string | null {
  if (former === latter) return null;
  budget.steps -= stepsOfLine * (lineCount(former) + lineCount(latter));
  if (budget.steps < 0) return everyLine(name, former, latter);
  // The number of comparisons is the product of the number of lines and of changes. jsdiff takes a comparator for
  // lines, too, which its types do not say.
  const options = {
    context: 3,
    comparator(left: string, right: string) {
      budget.steps -= left.length === right.length ? 1 + left.length / charactersOfStep : 1;
      if (budget.steps < 0) throw new SpentError();
      return left === right;
    },
  };
  try {
    return createTwoFilesPatch(`a/${name}`, `b/${name}`, former, latter, '', '', options);
  } catch (error) {
    if (error instanceof SpentError) return everyLine(name, former, latter);
    throw error;
  }
}

/** A step is a comparison of two lines: some 0.25 µs. To split a line from its text costs two. */
const stepsOfLine = 2;
const charactersOfStep = 256;

class SpentError extends Error {
  override readonly name = 'SpentError';
}

function lineCount(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function everyLine(name: string, former: string, latter: string): string {
  const range = (text: string) => `${text === '' ? 0 : 1},${lineCount(text)}`;
  const hunk = `@@ -${range(former)} +${range(latter)} @@ every line, because there are too many changes`;
  return `--- a/${name}\n+++ b/${name}\n${hunk}\n${signed('-', former)}${signed('+', latter)}`;
}

function signed(sign: string, text: string): string {
  if (text === '') return '';
  const lines = text.split('\n');
  const end = lines.at(-1) === '' ? '' : `${sign}${lines.at(-1)}\n\\ No newline at end of file\n`;
  return `${lines
    .slice(0, -1)
    .map((line) => `${sign}${line}\n`)
    .join('')}${end}`;
}
