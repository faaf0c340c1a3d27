import { S3Error } from './s3-error.ts';

/**
 * Parse the small documents of S3 requests: elements, text, the five named entities and character references.
 * Refuse doctypes, processing instructions, comments and CDATA, so that nothing can expand.
 * @throws S3Error MalformedXML
 */
export function readXml(source: string): XmlElement {
  const holder: XmlElement = { name: '', text: '', children: [] };
  const open = [holder];
  tokenPattern.lastIndex = declaration.exec(source)?.[0].length ?? 0;
  while (tokenPattern.lastIndex < source.length) {
    const match = tokenPattern.exec(source);
    const parent = open.at(-1);
    if (match === null || parent === undefined) throw malformed();
    const [, closing, name, attributes, empty, text] = match;
    if (text !== undefined) {
      if (parent === holder && text.trim() !== '') throw malformed();
      parent.text += decodeText(text);
    } else if (closing === '/') {
      if (parent === holder || parent.name !== name || attributes !== '' || empty !== '') throw malformed();
      open.pop();
    } else {
      const element: XmlElement = { name: name ?? '', text: '', children: [] };
      parent.children.push(element);
      if (empty !== '/') open.push(element);
      if (open.length > maxDepth) throw malformed();
    }
  }
  const [root, ...others] = holder.children;
  if (root === undefined || others.length > 0 || open.length !== 1) throw malformed();
  return root;
}

/** An element of a request document. Attributes are ignored: no operation uses one. */
export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

const tokenPattern =
  /<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;

const declaration = /^\uFEFF?(?:<\?xml\s[^<>?]*\?>)?/;

/** Make the error for an invalid document. */
export function malformed(): S3Error {
  return new S3Error(
    'MalformedXML',
    'The XML you provided was not well-formed or did not validate against our published schema.',
  );
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeText(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,8}));|&/g, (_, decimal, hex, name) => {
    const entity = name === undefined ? undefined : entities[name];
    if (entity !== undefined) return entity;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number.parseInt(decimal, 10);
    // A lone surrogate is not a character, and cannot be stored as UTF-8.
    if (!(code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) throw malformed();
    return String.fromCodePoint(code);
  });
}

const maxDepth = 8;

/**
 * Return the text of the only child with that name, or undefined. @throws S3Error MalformedXML if there are
 * several
 */
export function childText(element: XmlElement, name: string): string | undefined {
  const found = element.children.filter((child) => child.name === name);
  if (found.length > 1) throw malformed();
  return found[0]?.text;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/**
 * Write one element with text content. Characters that XML does not allow as they are become character references.
 */
export function tag(name: string, text: string | number | boolean): string {
  const escaped = String(text).replace(
    /[&<>"\p{Cc}\uFFFE\uFFFF]/gu,
    (character) => escapes[character] ?? `&#x${character.codePointAt(0)?.toString(16)};`,
  );
  return `<${name}>${escaped}</${name}>`;
}

/** Write one element around other elements, which are already written. */
export function group(name: string, ...children: readonly string[]): string {
  return `<${name}>${children.join('')}</${name}>`;
}

/** Write a response document in the namespace of the S3 API. */
export function xmlDocument(name: string, ...children: readonly string[]): string {
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
  return `${head}<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${children.join('')}</${name}>`;
}

/** Write an error document. S3 sends these without a namespace. */
export function errorDocument(fields: Readonly<Record<string, string>>): string {
  const children = Object.entries(fields).map(([name, text]) => tag(name, text));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${group('Error', ...children)}`;
}
