import { Problem } from '../problem.ts';

/** 400 for a mask, in Flask-RESTX's own words, so that clients made for it recognise them. */
export function maskProblem(message: string): Problem {
  return new Problem('bad-request', message, { errors: [{ in: 'header', name: 'X-Fields', message }] });
}
