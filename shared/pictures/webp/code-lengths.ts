interface Tree {
  weight: number;
  symbol?: number;
  children?: readonly [Tree, Tree];
}

function huffmanTree(leaves: Tree[]): Tree | undefined {
  leaves.sort((one, other) => one.weight - other.weight);
  // What is joined comes out in order of weight by itself, so the lightest is always at the head of one of the queues.
  const joined: Tree[] = [];
  let leaf = 0;
  let join = 0;
  const lightest = (): Tree | undefined => {
    const [a, b] = [leaves[leaf], joined[join]];
    if (b === undefined || (a !== undefined && a.weight <= b.weight)) {
      leaf += 1;
      return a;
    }
    join += 1;
    return b;
  };
  for (;;) {
    const one = lightest();
    const other = lightest();
    if (one === undefined || other === undefined) return one;
    joined.push({ weight: one.weight + other.weight, children: [one, other] });
  }
}

function readDepths(tree: Tree, depth: number, lengths: Uint8Array): number {
  if (tree.children === undefined) {
    // A single symbol makes a tree without branches; it still counts as one of length 1.
    lengths[tree.symbol ?? 0] = Math.max(depth, 1);
    return depth;
  }
  const [one, other] = tree.children;
  return Math.max(readDepths(one, depth + 1, lengths), readDepths(other, depth + 1, lengths));
}

/**
 * Lengths in bits of the symbols of a Huffman code, none above `most`; 0 for symbols that never occur.
 *
 * Too long ones are cut by counting rare symbols as if they were more frequent, twice as much in every round: that ends
 * with a balanced tree at the latest, and costs little where, as in pictures, few codes are affected.
 */
export function codeLengths(counts: ArrayLike<number>, most: number): Uint8Array {
  for (let least = 1; ; least *= 2) {
    const leaves = Array.from(counts).flatMap((count, symbol) =>
      count === 0 ? [] : [{ weight: Math.max(count, least), symbol }],
    );
    const lengths = new Uint8Array(counts.length);
    const tree = huffmanTree(leaves);
    if (tree === undefined || readDepths(tree, 0, lengths) <= most) return lengths;
  }
}
