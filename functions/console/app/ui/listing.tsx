import type { ComponentChildren } from 'preact';

/** Head of a column: its name, or its name with what its cell has beside it. */
export type Heading =
  | string
  | {
      name: ComponentChildren;
      /** Classes, such as `right` for a column of numbers. */
      class?: string;
      'aria-sort'?: 'other';
    };

/** Table as the list of a page. It scrolls sideways where it has no room. */
export const Listing = ({
  label,
  headings,
  children,
}: {
  /** What it lists. */
  label: string;
  headings: readonly Heading[];
  /** Its rows. */
  children: ComponentChildren;
}) => (
  <div class="listing" tabIndex={0} role="group" aria-label={label}>
    <table class="data">
      <Headings of={headings} />
      <tbody>{children}</tbody>
    </table>
  </div>
);

/** Heads of the columns of a table. */
export const Headings = ({ of: headings }: { of: readonly Heading[] }) => (
  <thead>
    <tr>
      {headings.map((heading, index) => {
        const { name, ...attributes } = typeof heading === 'string' ? { name: heading } : heading;
        return (
          <th key={index} scope="col" {...attributes}>
            {name}
          </th>
        );
      })}
    </tr>
  </thead>
);

/** Head of a column of buttons, whose name is for readers of screens alone. */
export const hiddenHeading = (name: string): Heading => ({ name: <span class="hidden">{name}</span> });
