/** Message for a parameter that is not UTF-8 after decoding. */
export const notUtf8 = 'is not UTF-8 in percent-encoding';

const pair = /^[^=]*/;

/**
 * Names of the parameters of a query or form (`a=1&b=2`) whose decoded name or value is not UTF-8. Decoding would
 * silently change them.
 */
export function parametersNotUtf8(text: string): string[] {
  if (!text.includes('%')) return [];
  const broken = text.split('&').filter((piece) => !isUtf8(bytesOf(piece)));
  const names = broken.map((piece) => Buffer.from(bytesOf(pair.exec(piece)?.[0] ?? '')).toString('utf8'));
  return [...new Set(names)];
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Percent-decode one piece of a query or form. Malformed escapes stand for themselves. */
function bytesOf(piece: string): Uint8Array {
  const escaped = Buffer.from(piece).toString('latin1');
  return Buffer.from(
    escaped.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

/**
 * Percent-decode a path variable; undefined if it is malformed or not UTF-8. REST proxy events of API Gateway decode
 * query parameters, but not path variables. A plus sign stands for itself.
 */
export function decodePathVariable(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
