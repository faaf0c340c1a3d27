/** A `${…}` that names a place in the document. */
export interface Reference {
  /** The text between the braces. */
  written: string;
  /** Levels up before the path starts: 0 is absolute, 1 the mapping or list that holds the text, 2 the one around it. */
  up: number;
  path: string[];
}

const longestPath = 1000;

/**
 * The references in a text, as OmegaConf and Hydra write them: `${a.b}`, `${a.b[0]}`, `${a["b c"]}`, and `${.b}`, `${..b}`
 * relative to where the text stands. Resolvers (`${oc.env:HOME}`), templates (`${{ x }}`) and paths that are themselves
 * computed (`${a.${b}}`) name no place, but references within them are found. Linear in the text.
 */
export function referencesIn(text: string): Reference[] {
  const found: Reference[] = [];
  const open: number[] = [];
  for (const { 0: mark, index } of text.matchAll(/\$\{|\}/g)) {
    if (mark === '}') {
      const start = open.pop();
      // The enclosing one is computed from it.
      open.fill(-1, Math.max(0, open.length - 1));
      const isStatic = start !== undefined && start >= 0 && index - start <= longestPath;
      const reference = isStatic ? readPath(text.slice(start, index)) : undefined;
      if (reference !== undefined) found.push(reference);
    } else open.push(index + 2);
  }
  return found;
}

const step = /([^.[\]{}:$\s"']+)|\[(?:"([^"]*)"|'([^']*)'|([^\]"']*))\]|(\.)/y;

/** `a.b[0]` as a path; undefined for anything else. */
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
