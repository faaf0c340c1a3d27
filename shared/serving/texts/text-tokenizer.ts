import { Tokenizer } from '@huggingface/tokenizers';
import { applyRustRules } from './rust-rules.ts';

/** A text, or a pair of texts, as a model reads it. */
export interface Encoding {
  ids: number[];
  /** 0 for the first text and 1 for the second. */
  types: number[];
  /** Positions of tokens of the texts themselves. */
  own: number[];
  isCut: boolean;
}

/** The tokenizer of a model. It answers as the Rust library does, with which models are trained. */
export class TextTokenizer {
  readonly #tokenizer: Library;
  readonly #single: readonly Piece[];
  readonly #pair: readonly Piece[];
  readonly #cutsLeft: boolean;

  /**
   * @param json contents of `tokenizer.json`
   * @param config contents of `tokenizer_config.json`
   * @throws Error if it is not a tokenizer, or has a step that is unknown
   */
  constructor(json: object, config: Readonly<Record<string, unknown>>) {
    const stated = { ...bare, ...json } as Stated;
    // The places of special tokens are worked out here, because texts are cut between them.
    this.#tokenizer = new Tokenizer({ ...stated, post_processor: null }, { ...config }) as Library;
    applyRustRules(this.#tokenizer, stated);
    const { single, pair } = templateOf(stated.post_processor ?? undefined);
    this.#single = single;
    this.#pair = pair;
    this.#cutsLeft = config['truncation_side'] === 'left';
  }

  /** Encode a text, or two, in at most so many tokens: of two texts, the longer one is cut first. */
  encode(text: string, second: string | undefined, maxTokens: number): Encoding {
    const pieces = second === undefined ? this.#single : this.#pair;
    const texts = {
      A: this.#idsOf(text),
      B: second === undefined ? [] : this.#idsOf(second),
    };
    const special = pieces.reduce((sum, piece) => sum + ('ids' in piece ? piece.ids.length : 0), 0);
    const room = Math.max(0, maxTokens - special);
    const [a, b] = shares(texts.A.length, texts.B.length, room);
    const cut = { A: this.#cut(texts.A, a), B: this.#cut(texts.B, b) };
    const encoding: Encoding = {
      ids: [],
      types: [],
      own: [],
      isCut: a < texts.A.length || b < texts.B.length,
    };
    for (const piece of pieces) {
      const ids = 'ids' in piece ? piece.ids : cut[piece.text];
      for (const id of ids) {
        if (!('ids' in piece)) encoding.own.push(encoding.ids.length);
        encoding.ids.push(id);
        encoding.types.push(piece.type);
      }
    }
    return encoding;
  }

  /** The id of a token, such as the one that fills short texts. */
  idOf(token: string): number | undefined {
    return this.#tokenizer.token_to_id(token);
  }

  tokenOf(id: number): string {
    return this.#tokenizer.id_to_token(id) ?? '';
  }

  #idsOf(text: string): number[] {
    // A vocabulary without an unknown token has no id for what it does not know; the Rust library leaves it out.
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids.filter((id) => id !== undefined);
  }

  #cut(ids: readonly number[], count: number): readonly number[] {
    return this.#cutsLeft ? ids.slice(ids.length - count) : ids.slice(0, count);
  }
}

/** What is used of the library: its declarations are for bundlers, and TypeScript finds none of them. */
type Library = Parameters<typeof applyRustRules>[0] & {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
};

type Stated = Parameters<typeof applyRustRules>[1] & { post_processor?: Step | null };

/** Members that files of early versions lack. */
const bare = { normalizer: null, pre_tokenizer: null, decoder: null, added_tokens: [] };

/** Special tokens, or a text. */
type Piece = { ids: readonly number[]; type: number } | { text: 'A' | 'B'; type: number };

interface Template {
  single: readonly Piece[];
  pair: readonly Piece[];
}

const first: Piece = { text: 'A', type: 0 };
const second: Piece = { text: 'B', type: 1 };

type Step = Readonly<Record<string, unknown>>;

/** Read where special tokens go. @throws Error for a step that is unknown */
function templateOf(step: Step | undefined): Template {
  const plain = { single: [first], pair: [first, second] };
  if (step === undefined) return plain;
  const special = (key: string): Piece => ({ ids: [(step[key] as [string, number])[1]], type: 0 });
  switch (step['type']) {
    case 'Sequence': {
      const steps = step['processors'] as readonly Step[];
      return steps.map(templateOf).findLast(({ single }) => single.length > 1) ?? plain;
    }
    case 'ByteLevel':
      return plain;
    case 'BertProcessing': {
      const [cls, sep] = [special('cls'), special('sep')];
      return { single: [cls, first, sep], pair: [cls, first, sep, second, { ...sep, type: 1 }] };
    }
    case 'RobertaProcessing': {
      const [cls, sep] = [special('cls'), special('sep')];
      return { single: [cls, first, sep], pair: [cls, first, sep, sep, { ...second, type: 0 }, sep] };
    }
    case 'TemplateProcessing': {
      const tokens = step['special_tokens'] as Readonly<Record<string, { ids: readonly number[] }>>;
      const piecesOf = (pieces: unknown): Piece[] =>
        (pieces as readonly TemplatePiece[]).map((piece) => {
          if ('Sequence' in piece) return { text: piece.Sequence.id, type: piece.Sequence.type_id };
          const { id, type_id } = piece.SpecialToken;
          return { ids: tokens[id]?.ids ?? [], type: type_id };
        });
      return { single: piecesOf(step['single']), pair: piecesOf(step['pair']) };
    }
    default:
      throw new Error(`the post_processor ${JSON.stringify(step['type'])} is unknown`);
  }
}

type TemplatePiece =
  | { Sequence: { id: 'A' | 'B'; type_id: number } }
  | { SpecialToken: { id: string; type_id: number } };

/** Return how many tokens of each text to keep, by `longest_first` of the Rust library. */
function shares(a: number, b: number, room: number): [number, number] {
  if (a + b <= room) return [a, b];
  if (b === 0) return [room, 0];
  const [short, long] = a <= b ? [a, b] : [b, a];
  let kept: [number, number] = [short, short > room ? short : Math.max(short, room - short)];
  if (kept[0] + kept[1] > room) kept = [Math.floor(room / 2), Math.floor(room / 2) + (room % 2)];
  kept = [Math.min(kept[0], short), Math.min(kept[1], long)];
  return a <= b ? kept : [kept[1], kept[0]];
}
