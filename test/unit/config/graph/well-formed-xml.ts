const name = '[A-Za-z][\\w.:-]*';
const attribute = `\\s+${name}="[^<"]*"`;
const tag = new RegExp(`<(/?)(${name})((?:${attribute})*)\\s*(/?)>`, 'y');
// The characters of XML 1.0, in which no other control characters may stand even when escaped.
const forbidden = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

/**
 * What keeps a text from being well-formed XML, as a person would say it; undefined when nothing does.
 * Strict, and for documents without prologue, comments, CDATA and named entities.
 */
export function xmlFault(text: string): string | undefined {
  if (forbidden.test(text)) return `forbidden character ${JSON.stringify(forbidden.exec(text)?.[0])}`;
  const open: string[] = [];
  let roots = 0;
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('<', at) === -1 ? text.length : text.indexOf('<', at);
    const between = text.slice(at, next);
    if (entityFault(between)) return `bad entity in ${JSON.stringify(between.slice(0, 80))}`;
    if (open.length === 0 && between.trim() !== '')
      return `text outside: ${JSON.stringify(between.slice(0, 80))}`;
    if (next === text.length) break;
    tag.lastIndex = next;
    const match = tag.exec(text);
    if (match === null) return `bad tag at ${JSON.stringify(text.slice(next, next + 80))}`;
    const [, closing, element = '', attributes = '', empty] = match;
    const names = [...attributes.matchAll(new RegExp(`(${name})="`, 'g'))].map(([, key]) => key);
    if (new Set(names).size !== names.length || entityFault(attributes))
      return `bad attributes ${attributes}`;
    if (closing === '/') {
      if (open.pop() !== element) return `</${element}> closes nothing`;
    } else {
      if (open.length === 0) roots += 1;
      if (empty === '') open.push(element);
    }
    at = tag.lastIndex;
  }
  if (open.length > 0) return `<${open.at(-1)}> is never closed`;
  return roots === 1 ? undefined : `${roots} root elements`;
}

function entityFault(text: string): boolean {
  return text.replaceAll(/&(?:#\d+|#x[\da-f]+|amp|lt|gt|quot|apos);/gi, '').includes('&');
}
