const pair = /^[^=]*/;

/** Bytes of one piece of a query or form, percent-decoded; what only looks like an escape stands for itself. */
function bytesOf(piece: string): Uint8Array {
  const escaped = Buffer.from(piece).toString('latin1');
  return Buffer.from(
    escaped.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with such a parameter. */
export const notUtf8 = 'is not UTF-8 in percent-encoding';

/**
 * Names of the parameters of a query or form (`a=1&b=2`) whose name or value is not UTF-8 in percent-encoding. They would
 * be decoded to something else than was sent.
 */
export function parametersNotUtf8(text: string): string[] {
  if (!text.includes('%')) return [];
  const broken = text.split('&').filter((piece) => !isUtf8(bytesOf(piece)));
  const names = broken.map((piece) => Buffer.from(bytesOf(pair.exec(piece)?.[0] ?? '')).toString('utf8'));
  return [...new Set(names)];
}

/**
 * A path variable without its percent-encoding, in which API Gateway's REST proxy events hand it over as it was sent
 * (query parameters they decode). Undefined where it is malformed or not UTF-8. A plus sign stands for itself.
 */
export function decodePathVariable(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
