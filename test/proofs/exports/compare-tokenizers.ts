import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Encoding, TextTokenizer } from '../../../shared/serving/texts/text-tokenizer.ts';

/** What the Rust library made of the strings, by make_tokenizers.py. */
interface Made {
  ids: number[][];
  cut: number[][];
  pairs: [ids: number[], types: number[]][];
}

/** Tokens of a text when it is cut, as in make_tokenizers.py. */
const cut = 24;

/** Compare the tokenizer of serving with the Rust library, and return a row for each kind with the strings that differ. */
export async function compareTokenizers(folder: string, kinds: readonly string[]): Promise<TokenizerRow[]> {
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));
  const strings: string[] = await read('strings.json');
  const rows: TokenizerRow[] = [];
  for (const kind of kinds) {
    const tokenizer = new TextTokenizer(await read(`${kind}/tokenizer.json`), {});
    const made: Made = await read(`${kind}.json`);
    const differ = new Set<string>();
    for (const [at, text] of strings.entries()) {
      const whole = tokenizer.encode(text, undefined, 1e6).ids;
      const short = tokenizer.encode(text, undefined, cut).ids;
      if (!isEqual(whole, made.ids[at]) || !isEqual(short, made.cut[at])) differ.add(text);
    }
    for (const [at, [ids, types]] of made.pairs.entries()) {
      const first = strings[10 * at] ?? '';
      const pair: Encoding = tokenizer.encode(first, strings[10 * at + 1] ?? '', 1e6);
      if (!isEqual(pair.ids, ids) || !isEqual(pair.types, types)) differ.add(first);
    }
    const shortest = [...differ].toSorted((a, b) => a.length - b.length)[0];
    rows.push({ kind, strings: strings.length, differ: differ.size, shortest });
  }
  return rows;
}

export interface TokenizerRow {
  kind: string;
  strings: number;
  differ: number;
  shortest: string | undefined;
}

const isEqual = (one: readonly number[], other: readonly number[] | undefined): boolean =>
  one.length === other?.length && one.every((value, at) => value === other[at]);
