import * as z from 'zod';
import { line } from '../../core/text/text-rules.ts';

// Rules of the saved views of a project's experiments, from a request or an archive.

const maxViews = 30;
const maxAddress = 1500;

/** A named address of the experiments' table. */
export const TableView = z.strictObject({
  name: line(64).describe('Name of its tab, unique in the project.'),
  address: z
    .string()
    .max(maxAddress, `exceeds the maximum length of ${maxAddress} characters`)
    .regex(/^[\x21-\x7e]*$/, 'must be URL-encoded: printable ASCII without spaces')
    .describe(
      "Settings of the table, as in the console's address after `?`, such as `filter=lr%20%3C%200.1&sort=best`.",
    ),
});
export type TableView = z.infer<typeof TableView>;

export const TableViews = z
  .array(TableView, 'must be a list of views')
  .max(maxViews, `must have at most ${maxViews} views`)
  .superRefine((views, context) => {
    for (const [index, { name }] of views.entries())
      if (views.findIndex((view) => view.name === name) < index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is the name of another view' });
  });
