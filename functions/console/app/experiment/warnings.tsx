import type { Experiment } from '../api/answers.ts';
import { useShowMore } from '../ui/show-more.tsx';
import { LongText } from '../ui/text/long-text.tsx';

/** Warnings about probable mistakes of a run's program, the same sentences as in `mps show`. */
export function Warnings({ experiment: { warnings } }: { experiment: Experiment }) {
  const [shown, more] = useShowMore(warnings, 3, 'warnings');
  if (warnings.length === 0) return null;
  return (
    <section class="panel warnings" aria-labelledby="warnings">
      <h2 id="warnings">{warnings.length === 1 ? 'Warning' : `Warnings (${warnings.length})`}</h2>
      <ul class="small">
        {shown.map((warning, index) => (
          <li key={index}>
            <LongText text={warning} />
          </li>
        ))}
      </ul>
      {more}
    </section>
  );
}
