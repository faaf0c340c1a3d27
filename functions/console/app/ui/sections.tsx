import type { ComponentChildren } from 'preact';

/** Part of a long page of settings. */
export interface PagePart {
  id: string;
  name: string;
  content: ComponentChildren;
}

const goTo = (id: string): void => {
  const part = document.getElementById(id);
  part?.scrollIntoView({ block: 'start' });
  part?.focus({ preventScroll: true });
};

/** Parts of a long page below each other, with a list of their names at the left. */
export const Sections = ({ label, parts }: { label: string; parts: readonly PagePart[] }) => (
  <div class="sections">
    <nav aria-label={label}>
      <ul>
        {parts.map(({ id, name }) => (
          <li key={id}>
            <button type="button" onClick={() => goTo(`part-${id}`)}>
              {name}
            </button>
          </li>
        ))}
      </ul>
    </nav>
    <div>
      {parts.map(({ id, content }) => (
        <div key={id} id={`part-${id}`} tabIndex={-1}>
          {content}
        </div>
      ))}
    </div>
  </div>
);
