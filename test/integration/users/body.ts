import type { Call } from '../../support/service.ts';

/** A JSON body. */
export const json = (body: object): Call => ({
  body: JSON.stringify(body),
  headers: { 'Content-Type': 'application/json' },
});

/** The same as a form. */
export const form = (body: Readonly<Record<string, string>>): Call => ({
  body: new URLSearchParams(body).toString(),
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
});
