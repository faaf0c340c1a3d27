import { useState } from 'preact/hooks';

/** Characters of a long text to show first. A slightly longer text is shown whole. */
const maxShown = 300;
const maxSlack = 100;

/** Text of users, of any length. A long one shows its beginning, and the rest after a click. */
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
