import { useState } from 'preact/hooks';

/** Characters of a text that are shown first; one that is hardly longer is shown whole. */
const maxShown = 300;
const maxSlack = 100;

/** A text of users, of any length: the beginning of a long one, and the rest at a click. */
export function LongText({ text, class: name }: { text: string; class?: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > maxShown + maxSlack;
  return (
    <>
      <bdi {...(name !== undefined && { class: name })}>
        {isLong && !isWhole ? `${text.slice(0, maxShown)}…` : text}
      </bdi>
      {isLong && (
        <>
          {' '}
          <button type="button" class="as-link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'less' : `more (${(text.length - maxShown).toLocaleString('en')} characters)`}
          </button>
        </>
      )}
    </>
  );
}
