/** A `${…}` reference to a value in the document. */
export interface Reference {
  /** Text between the braces. */
  written: string;
  /**
   * Levels to go up before the path starts: 0 is absolute, 1 is the mapping or list that holds the text, 2 is its
   * parent.
   */
  up: number;
  path: string[];
}

const longestPath = 1000;

/**
 * Find the references in a text, in the syntax of OmegaConf and Hydra: `${a.b}`, `${a.b[0]}`, `${a["b c"]}`, and
 * the relative `${.b}`, `${..b}`. Resolvers (`${oc.env:HOME}`), templates (`${{ x }}`) and computed paths
 * (`${a.${b}}`) are no references, but references within them are found. The time is linear in the text.
 */
export function referencesIn(text: string): Reference[] {
  const found: Reference[] = [];
  const open: number[] = [];
  for (const { 0: mark, index } of text.matchAll(/\$\{|\}/g)) {
    if (mark === '}') {
      const start = open.pop();
      // A nested reference makes its enclosing one a computed path.
      open.fill(-1, Math.max(0, open.length - 1));
      const isStatic = start !== undefined && start >= 0 && index - start <= longestPath;
      const reference = isStatic ? readPath(text.slice(start, index)) : undefined;
      if (reference !== undefined) found.push(reference);
    } else open.push(index + 2);
  }
  return found;
}

const step = /([^.[\]{}:$\s"']+)|\[(?:"([^"]*)"|'([^']*)'|([^\]"']*))\]|(\.)/y;

/** Parse `a.b[0]` as a path; undefined for anything else. */
function readPath(written: string): Reference | undefined {
  const dots = /^\.*/.exec(written)?.[0].length ?? 0;
  const path: string[] = [];
  let afterDot = true;
  step.lastIndex = dots;
  while (step.lastIndex < written.length) {
    const match = step.exec(written);
    if (match === null) return undefined;
    const [, plain, double, single, bare, dot] = match;
    if ((dot !== undefined && afterDot) || (plain !== undefined && !afterDot)) return undefined;
    const key = plain ?? double ?? single ?? bare;
    if (key !== undefined) path.push(key);
    afterDot = dot !== undefined;
  }
  return path.length > 0 && !afterDot ? { written, up: dots, path } : undefined;
}
