import type * as z from 'zod';

/** What is wrong with one parameter of several that are judged together. */
export interface CombinedFault {
  name: string;
  message: string;
  /** All that is allowed, in a sentence. */
  allowed?: string;
}

/**
 * Parameters that are also judged as a whole. They are judged even where single ones are wrong, so that a caller learns
 * everything at once; what `judge` gets is as it was sent where it is wrong.
 */
export const checkedTogether = <S extends z.ZodObject>(
  schema: S,
  check: (values: Readonly<Record<string, unknown>>) => readonly CombinedFault[],
): S =>
  schema.superRefine(
    (values: Readonly<Record<string, unknown>>, context) => {
      for (const { name, message, allowed } of check(values)) {
        const params = allowed === undefined ? {} : { params: { allowed } };
        context.addIssue({ code: 'custom', path: [name], message, ...params });
      }
    },
    { when: () => true },
  );
