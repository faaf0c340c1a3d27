/**
 * Text as it can be drawn: one line, without characters that XML forbids or that change how the rest is shown
 * (controls, directional overrides, invisible characters), and with at most two combining marks on a letter.
 */
export function drawable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\t\n\r\u2028\u2029]+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, '\ufffd')
    .replaceAll(/(\p{M}{2})\p{M}+/gu, '$1');
}

/** Text and attribute values of XML; the text is drawable. */
export function escapeXml(text: string): string {
  return drawable(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * An upper estimate of a text's width in pixels. The viewer's font is not known, so widths are those of the
 * widest common one (Verdana, DejaVu Sans), and an em or more for scripts that other fonts stand in for.
 */
export function textWidth(text: string, fontSize: number, bold = false): number {
  let ems = 0;
  for (const character of text) ems += charWidth(character);
  return ems * fontSize * (bold ? 1.12 : 1);
}

/** Ems of the wider of both fonts. */
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
  // Signs that stand for whole phrases are drawn several letters wide.
  return /[\p{Script=Cuneiform}\u{fdfb}-\u{fdfd}]/u.test(character) ? 4 : 1.3;
}

/** The text, or as much of its beginning as fits into a width. */
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
