export interface DiffLine {
  sign: ' ' | '-' | '+';
  text: string;
}

/** Most cells of the table that the comparison fills; larger texts are compared by their common beginning and end. */
const cellsMost = 4_000_000;

/** What turns one text into another, line by line: the longest common subsequence stays. */
export function diffLines(before: string, after: string): DiffLine[] {
  const one = before.split('\n');
  const other = after.split('\n');
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < one.length - start && end < other.length - start && one.at(-1 - end) === other.at(-1 - end))
    end += 1;
  const a = one.slice(start, one.length - end);
  const b = other.slice(start, other.length - end);
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: ' ', text }));
  return [...same(one.slice(0, start)), ...middle(a, b), ...same(one.slice(one.length - end))];
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ sign: '-', text });
  const added = (text: string): DiffLine => ({ sign: '+', text });
  if ((a.length + 1) * (b.length + 1) > cellsMost) return [...a.map(removed), ...b.map(added)];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      out.push({ sign: ' ', text: left });
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      out.push(removed(left));
      i += 1;
    } else if (right !== undefined) {
      out.push(added(right));
      j += 1;
    }
  }
  return out;
}
