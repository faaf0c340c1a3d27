const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** One element with text content; characters that XML cannot carry as they are become character references. */
export function tag(name: string, text: string | number | boolean): string {
  const escaped = String(text).replace(
    /[&<>"\p{Cc}\uFFFE\uFFFF]/gu,
    (character) => escapes[character] ?? `&#x${character.codePointAt(0)?.toString(16)};`,
  );
  return `<${name}>${escaped}</${name}>`;
}

/** One element holding other elements, already written. */
export function group(name: string, ...children: readonly string[]): string {
  return `<${name}>${children.join('')}</${name}>`;
}

/** A whole answer document in the namespace of the S3 API. */
export function xmlDocument(name: string, ...children: readonly string[]): string {
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
  return `${head}<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${children.join('')}</${name}>`;
}

/** An error document; S3 sends these without a namespace. */
export function errorDocument(fields: Readonly<Record<string, string>>): string {
  const children = Object.entries(fields).map(([name, text]) => tag(name, text));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${group('Error', ...children)}`;
}
