import { CharacterMap } from './character-map.ts';

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
  if (config.type === 'Lowercase') step.normalize = lowercase;
  if (config.type === 'BertNormalizer') step.normalize = (text) => normalizeBert(text, config);
}

/** Each character by itself. */
const lowercase = (text: string): string => Array.from(text, (character) => character.toLowerCase()).join('');

function normalizeBert(text: string, config: Stated): string {
  let normal = text;
  if (config['clean_text'] !== false) normal = normal.replace(control, '').replace(space, ' ');
  if (config['handle_chinese_chars'] !== false) normal = normal.replace(chinese, ' $& ');
  const isLower = config['lowercase'] !== false;
  if (config['strip_accents'] ?? isLower) normal = normal.normalize('NFD').replace(accent, '');
  return isLower ? lowercase(normal) : normal;
}

const control = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\0\ufffd]/gu;
const space = /\p{White_Space}/gu;
const chinese =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;

/** Marks, without those that came into Unicode after the tables of the Rust library. */
const accent =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: the class is one of single marks.
  /(?![\u07fd\u0897-\u089f\u08ca-\u08e1\u09fe\u0afa-\u0aff\u0b55\u0c04\u0c3c\u0d00\u0d3b\u0d3c\u0d81\u0eba\u0ece\u1734\u180f\u1885\u1886\u1abf-\u1aeb\u1df6-\u1dfb\ua82c\ua8c5\ua8ff\ua9bd])\p{Mn}/gu;

/** Likewise: punctuation, and what is ASCII and no letter or digit. */
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
