import { CharacterMap } from './character-map.ts';
import { laterMarks, laterThan9 } from './later-characters.ts';

/** A step of the library, whose members it keeps open. */
interface Step {
  normalize?: (text: string) => string;
  pre_tokenize_text?: (text: string) => string[];
  pattern?: RegExp;
  normalizers?: Step[];
  tokenizers?: Step[];
}

/** The step in `tokenizer.json`. */
interface Stated extends Readonly<Record<string, unknown>> {
  type?: string;
  normalizers?: readonly Stated[];
  pretokenizers?: readonly Stated[];
}

/**
 * Give the steps of a tokenizer the rules of the Rust library, with which models are trained. The one for JavaScript has those of
 * JavaScript: `\s` with U+FEFF and without U+0085, capital sigmas by their place in a word, later tables of Unicode.
 */
export function applyRustRules(
  steps: { normalizer: Step | null; pre_tokenizer: Step | null },
  stated: { normalizer?: Stated | null; pre_tokenizer?: Stated | null },
): void {
  for (const [step, config] of stepsOf(steps.normalizer, stated.normalizer)) correctNormalizer(step, config);
  for (const [step, { type }] of stepsOf(steps.pre_tokenizer, stated.pre_tokenizer))
    correctSplitter(step, type);
}

/** The steps of a sequence, whose steps may be sequences, each with how it is stated. */
function stepsOf(step: Step | null | undefined, stated: Stated | null | undefined): [Step, Stated][] {
  if (step == null || stated == null) return [];
  const inner = step.normalizers ?? step.tokenizers;
  if (inner === undefined) return [[step, stated]];
  const listed = stated.normalizers ?? stated.pretokenizers ?? [];
  return inner.flatMap((member, index) => stepsOf(member, listed[index]));
}

function correctNormalizer(step: Step, config: Stated): void {
  if (config.type === 'Precompiled') {
    const { precompiled_charsmap } = config;
    if (typeof precompiled_charsmap !== 'string' || precompiled_charsmap === '') return;
    const map = new CharacterMap(precompiled_charsmap);
    step.normalize = (text) => map.normalize(text);
  }
  const rule = rules.get(config.type ?? '');
  if (rule !== undefined) step.normalize = (text) => rule(text, config);
}

/** A text in a form of Unicode (NFC …), in which characters that the tables do not have stay as they are. */
function inForm(text: string, form: string): string {
  const parts = text.split(later);
  return parts.map((part, index) => (index % 2 === 1 ? part : part.normalize(form))).join('');
}

const later = new RegExp(`([${laterThan9}])`, 'u');

function strip(text: string, { strip_left, strip_right }: Stated): string {
  const left = strip_left === false ? text : text.replace(/^\p{White_Space}+/u, '');
  return strip_right === false ? left : left.replace(/(?<!\p{White_Space})\p{White_Space}+$/u, '');
}

/** Each character by itself. */
const lowercase = (text: string): string => Array.from(text, (character) => character.toLowerCase()).join('');

function normalizeBert(text: string, config: Stated): string {
  let normal = text;
  if (config['clean_text'] !== false) normal = normal.replace(control, '').replace(space, ' ');
  if (config['handle_chinese_chars'] !== false) normal = normal.replace(chinese, ' $& ');
  const isLower = config['lowercase'] !== false;
  if (config['strip_accents'] ?? isLower) normal = inForm(normal, 'NFD').replace(accent, '');
  return isLower ? lowercase(normal) : normal;
}

const control = /(?![\t\n\r\u0890\u0891\u08e2\u{110cd}\u{13430}-\u{1343f}])[\p{Cc}\p{Cf}\p{Co}\0\ufffd]/gu;
const space = /\p{White_Space}/gu;
const chinese =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;

/** Marks that BertNormalizer removes. U+1734 and U+1171E were some. */
const accent = new RegExp(String.raw`(?![${laterThan9}${laterMarks}])\p{Mn}|[\u1734\u{1171e}]`, 'gu');

/** Marks that StripAccents removes. U+1CF2 and U+1CF3 were some. */
const mark = new RegExp(String.raw`(?![${laterThan9}])\p{M}|[\u1cf2\u1cf3]`, 'gu');

const rules = new Map<string, (text: string, config: Stated) => string>([
  ['Lowercase', lowercase],
  ['BertNormalizer', normalizeBert],
  ['Strip', strip],
  ['StripAccents', (text) => text.replace(mark, '')],
  ...['NFC', 'NFD', 'NFKC', 'NFKD'].map((form) => [form, (text: string) => inForm(text, form)] as const),
]);

/** Punctuation without that which is later than the tables, and what is ASCII and no letter or digit. */
const punctuation = String.raw`(?![\u061d\u09fd\u0a76\u0c77\u0c84\u166d\u1b4e\u1b4f\u1b7d-\u1b7f\u2e43-\u2e4f\u2e52-\u2e5d])[\p{P}!-/:-@\[-\x60\{-~]`;
const bertWord = new RegExp(String.raw`${punctuation}|(?:(?!${punctuation})\P{White_Space})+`, 'gu');
const byteWord =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const unspaced = /\P{White_Space}+/gu;
const wordCharacters = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d`;
const word = new RegExp(`[${wordCharacters}]+|[^${wordCharacters}\\p{White_Space}]+`, 'gu');

function correctSplitter(step: Step, type: string | undefined): void {
  const match = (pattern: RegExp) => (text: string) => text.match(pattern) ?? [];
  if (type === 'ByteLevel') step.pattern = byteWord;
  const pattern = new Map([
    ['BertPreTokenizer', bertWord],
    ['WhitespaceSplit', unspaced],
    ['Whitespace', word],
  ]).get(type ?? '');
  if (pattern !== undefined) step.pre_tokenize_text = match(pattern);
}
