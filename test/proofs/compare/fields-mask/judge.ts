import { isDeepStrictEqual } from 'node:util';
import type { Answers } from './our-answers.ts';

/** Where ours differs on purpose. */
export const deliberate = {
  blank: 'a blank mask is no mask; Flask-RESTX answers 500',
  open: 'data of unknown shape (fields.Raw) follows the same rules as the rest: a sub-mask leaves scalars whole, an empty one leaves everything, null is shown; Flask-RESTX answers 500, {} and nothing',
  written: 'a mask is refused before anything is written; Flask-RESTX writes first',
  error: 'a mask never touches an error body; Flask-RESTX marshals and masks one that a method returns',
} as const;
export type Reason = keyof typeof deliberate;
export type Verdict = 'agree' | Reason | 'DIFFER';
export type Answer = Answers['one'][number];

function withoutOpenData(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withoutOpenData);
  if (typeof body !== 'object' || body === null) return body;
  const { attributes: _, ...rest } = body as Record<string, unknown>;
  return rest;
}

/** `one` and `list`: the same status and the same JSON, order of fields included. */
function judgeRead(mask: string, theirs: Answer, ours: Answer): Verdict {
  if (JSON.stringify(theirs) === JSON.stringify(ours)) return 'agree';
  if (mask.trim() === '') return theirs[0] === 500 && ours[0] === 200 ? 'blank' : 'DIFFER';
  if (!/attributes[^\p{L}\p{N}_:*{},-]*\{/u.test(mask) || ours[0] !== 200) return 'DIFFER';
  const same = theirs[0] === 200 && isDeepStrictEqual(withoutOpenData(theirs[1]), withoutOpenData(ours[1]));
  return theirs[0] === 500 || same ? 'open' : 'DIFFER';
}

/** `write`: answered like `one`, having written once where it succeeded and not at all where it was refused. */
function judgeWrite(mask: string, theirs: Answer, ours: Answer): Verdict {
  const [theirBody, theirWrites] = theirs[1] as [unknown, number];
  const [ourBody, ourWrites] = ours[1] as [unknown, number];
  const read = judgeRead(mask, [theirs[0], theirBody], [ours[0], ourBody]);
  if (read === 'DIFFER' || ourWrites !== (ours[0] === 200 ? 1 : 0)) return 'DIFFER';
  return theirWrites === ourWrites ? read : 'written';
}

/** `error`: 404 in the caller's words, or 400 for the mask. */
function judgeError(mask: string, theirs: Answer, ours: Answer): Verdict {
  if (ours[0] === 400) return judgeRead(mask, theirs, ours);
  const body = ours[1] as { message?: string };
  return ours[0] === 404 && body.message === 'There is no project p9.' ? 'error' : 'DIFFER';
}

/** Says whether two answers agree, differ on purpose, or differ. */
export const judges = { one: judgeRead, list: judgeRead, write: judgeWrite, error: judgeError };
