/**
 * What a request may read, if its work grows with a run, a project or all projects; then the bound.
 * - `heavy`: a few at a time, equal ones once, stopped with the request (`isHeavy`, `pipeline/heavy-work.ts`).
 * - `page`: so much, and a cursor to what follows.
 * - `later`: the request only notes the work, which passes of the background do in steps.
 * - `thread`: on a thread of its own, with a timeout.
 */
export type RequestWork = `${'heavy' | 'page' | 'later' | 'thread'}: ${string}`;
