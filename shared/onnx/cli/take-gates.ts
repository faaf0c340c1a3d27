import { type Gate, GateError } from '../../gates/gate.ts';
import { parseGate } from '../../gates/parse-gate.ts';

const flag = '--gate';

/** A condition contains `<` or `>`. Paths and names of methods do not. */
const isCondition = (text: string | undefined): text is string => text !== undefined && /[<>]/.test(text);

/**
 * Remove each `--gate` and the conditions after it from a command line. A command line may have several `--gate`,
 * each with any number of conditions, or none. `gates` is undefined if there is no `--gate`.
 */
export function takeGates(args: readonly string[]): {
  gates: Gate[] | undefined;
  rest: string[];
  faults: string[];
} {
  const rest: string[] = [];
  const faults: string[] = [];
  let gates: Gate[] | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word !== flag && !word.startsWith(`${flag}=`)) {
      rest.push(word);
      continue;
    }
    gates ??= [];
    const texts = word === flag ? [] : [word.slice(flag.length + 1)];
    for (; word === flag && isCondition(args[at + 1]); at += 1) texts.push(args[at + 1] ?? '');
    for (const text of texts) {
      try {
        gates.push(parseGate(text));
      } catch (error) {
        if (!(error instanceof GateError)) throw error;
        faults.push(error.message);
      }
    }
  }
  return { gates, rest, faults };
}
