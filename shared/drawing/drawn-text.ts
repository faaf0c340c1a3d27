/**
 * Clean up text for drawing: one line, at most two combining marks on a letter, and no characters that XML forbids
 * or that change how other text is shown (controls, directional overrides, invisible characters).
 */
export function drawable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\t\n\r\u2028\u2029]+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, '\ufffd')
    .replaceAll(/(\p{M}{2})\p{M}+/gu, '$1');
}

/** Escape text for XML content and attributes. Also make it drawable. */
export function escapeXml(text: string): string {
  return drawable(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Estimate the width of a text in pixels from above. The viewer's font is unknown, so use the widths of the widest
 * common fonts (Verdana, DejaVu Sans), and at least one em for scripts that fall back to other fonts.
 */
export function textWidth(text: string, fontSize: number, bold = false): number {
  let ems = 0;
  for (const character of text) ems += charWidth(character);
  return ems * fontSize * (bold ? 1.12 : 1);
}

/** Widths in ems, the larger of both fonts. */
const widths: readonly (readonly [RegExp, number])[] = [
  [/[ilj']/, 0.35],
  [/[ frtI.,:;!|()[\]/\\"-]/, 0.46],
  [/[cszJ]/, 0.54],
  [/[mwMW@%&+=<>#~^]/, 0.99],
  [/[a-z0-9_$?{}*`]/, 0.64],
  [/[A-Z]/, 0.79],
];

function charWidth(character: string): number {
  return widths.find(([characters]) => characters.test(character))?.[1] ?? rareWidth(character);
}

function rareWidth(character: string): number {
  if (/[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u.test(character)) return 0.9;
  // Ligatures of whole phrases are several letters wide.
  return /[\p{Script=Cuneiform}\u{fdfb}-\u{fdfd}]/u.test(character) ? 4 : 1.3;
}

/** Cut a text to a width. */
export function fitted(text: string, width: number, fontSize: number, bold = false): string {
  const drawn = drawable(text);
  if (textWidth(drawn, fontSize, bold) <= width) return drawn;
  let kept = '';
  let rest = width / (fontSize * (bold ? 1.12 : 1)) - 1;
  for (const character of drawn) {
    rest -= charWidth(character);
    if (rest < 0) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
