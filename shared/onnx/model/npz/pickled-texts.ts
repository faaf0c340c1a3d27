import { ModelError } from '../model-error.ts';

/**
 * Return the texts of an array of Python objects as `numpy.save` pickles it. Nothing is imported or called: only the
 * codes for texts, numbers, tuples and lists have an effect.
 *
 * @throws ModelError for other objects than texts
 */
export function pickledTexts(bytes: Uint8Array): string[] {
  const list = new Pickle(bytes).lists.at(-1) ?? [];
  return list.map((item) => {
    if (typeof item !== 'string')
      throw new ModelError('An array of objects contains others than texts; save it with a plain dtype.');
    return item;
  });
}

/** A value on the stack: a text, a list, or anything else that an array of texts does not need. */
type Item = string | Item[] | symbol;

const mark = Symbol('mark');
const other = Symbol('other');

const utf8 = new TextDecoder();

/** Reads the codes of a pickle of protocol 2 to 5 (pickletools of CPython describes them). */
class Pickle {
  /** All lists, in the order of their creation. The last one has the elements of the array. */
  readonly lists: Item[][] = [];
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #stack: Item[] = [];
  readonly #memo = new Map<number, Item>();
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      while (this.#step(String.fromCharCode(this.#number(1))));
    } catch (error) {
      if (error instanceof RangeError) throw damaged();
      throw error;
    }
  }

  #number(width: 1 | 2 | 4 | 8): number {
    const at = this.#at;
    this.#at += width;
    if (width === 1) return this.#view.getUint8(at);
    if (width === 2) return this.#view.getUint16(at, true);
    if (width === 4) return this.#view.getUint32(at, true);
    return Number(this.#view.getBigUint64(at, true));
  }

  #take(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw damaged();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #push(item: Item): true {
    this.#stack.push(item);
    return true;
  }

  #pop(count: number): true {
    if (this.#stack.length < count) throw damaged();
    this.#stack.length -= count;
    return true;
  }

  /** Remove and return the items since the last mark. */
  #marked(): Item[] {
    const at = this.#stack.lastIndexOf(mark);
    if (at === -1) throw damaged();
    const items = this.#stack.splice(at);
    return items.slice(1);
  }

  #append(items: readonly Item[]): true {
    const list = this.#stack.at(-1);
    if (!Array.isArray(list)) throw damaged();
    for (const item of items) list.push(item);
    return true;
  }

  #remember(at: number): true {
    const top = this.#stack.at(-1);
    if (top === undefined) throw damaged();
    this.#memo.set(at, top);
    return true;
  }

  #line(): true {
    const end = this.#bytes.indexOf(10, this.#at);
    if (end === -1) throw damaged();
    this.#at = end + 1;
    return true;
  }

  /** Apply one code. Return false at the end. */
  #step(code: string): boolean {
    switch (code) {
      case '\x80': // PROTO
        return this.#take(1).length > 0;
      case '\x95': // FRAME
        return this.#take(8).length > 0;
      case '.': // STOP
        return false;
      case '\x8c': // SHORT_BINUNICODE
        return this.#push(utf8.decode(this.#take(this.#number(1))));
      case 'X': // BINUNICODE
        return this.#push(utf8.decode(this.#take(this.#number(4))));
      case '\x8d': // BINUNICODE8
        return this.#push(utf8.decode(this.#take(this.#number(8))));
      case 'C': // SHORT_BINBYTES
        this.#take(this.#number(1));
        return this.#push(other);
      case 'B': // BINBYTES
        this.#take(this.#number(4));
        return this.#push(other);
      case 'K': // BININT1
        this.#take(1);
        return this.#push(other);
      case 'M': // BININT2
        this.#take(2);
        return this.#push(other);
      case 'J': // BININT
        this.#take(4);
        return this.#push(other);
      case '\x8a': // LONG1
        this.#take(this.#number(1));
        return this.#push(other);
      case 'G': // BINFLOAT
        this.#take(8);
        return this.#push(other);
      case 'N': // NONE
      case '\x88': // NEWTRUE
      case '\x89': // NEWFALSE
      case ')': // EMPTY_TUPLE
      case '}': // EMPTY_DICT
        return this.#push(other);
      case ']': {
        // EMPTY_LIST
        const list: Item[] = [];
        this.lists.push(list);
        return this.#push(list);
      }
      case '(': // MARK
        return this.#push(mark);
      case 't': // TUPLE
        this.#marked();
        return this.#push(other);
      case '\x85': // TUPLE1
        return this.#pop(1) && this.#push(other);
      case '\x86': // TUPLE2
        return this.#pop(2) && this.#push(other);
      case '\x87': // TUPLE3
        return this.#pop(3) && this.#push(other);
      case 'a': {
        // APPEND
        const item = this.#stack.pop();
        return this.#append(item === undefined ? [] : [item]);
      }
      case 'e': // APPENDS
        return this.#append(this.#marked());
      case 'c': // GLOBAL
        return this.#line() && this.#line() && this.#push(other);
      case '\x93': // STACK_GLOBAL
      case 'R': // REDUCE
        return this.#pop(2) && this.#push(other);
      case 'b': // BUILD
        return this.#pop(1);
      case '\x94': // MEMOIZE
        return this.#remember(this.#memo.size);
      case 'q': // BINPUT
        return this.#remember(this.#number(1));
      case 'r': // LONG_BINPUT
        return this.#remember(this.#number(4));
      case 'h': // BINGET
        return this.#push(this.#memo.get(this.#number(1)) ?? other);
      case 'j': // LONG_BINGET
        return this.#push(this.#memo.get(this.#number(4)) ?? other);
      default:
        throw new ModelError('An array of objects contains others than texts; save it with a plain dtype.');
    }
  }
}

const damaged = (): ModelError => new ModelError('An array of objects is damaged.');
