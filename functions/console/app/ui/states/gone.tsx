import { ProblemError } from '../../../../../shared/client/problem-error.ts';
import { LinkButton } from '../controls/button.tsx';
import { PageHead } from '../page-head.tsx';
import { Empty } from './empty.tsx';
import { Problem } from './problem.tsx';

/** Return whether nothing is at an address: it was deleted, or no id of the service looks like the address. */
const isMissing = ({ status, faults }: ProblemError): boolean =>
  status === 404 || status === 410 || (faults.length > 0 && faults.every((fault) => fault.in === 'path'));

/** Page of something that cannot be shown: gone, with the way back, or not loaded, with another try. */
export function Gone({
  error,
  what,
  trail,
  onRetry,
}: {
  error: unknown;
  /** What it is, such as `experiment`. */
  what: string;
  /** Pages above it, the nearest last. */
  trail: readonly { name: string; href: string }[];
  onRetry: () => unknown;
}) {
  const isGone = error instanceof ProblemError && isMissing(error);
  const back = trail.at(-1);
  return (
    <>
      <PageHead trail={trail} title={isGone ? `There is no such ${what}` : `The ${what} is not loaded`} />
      {isGone ? (
        <Empty title="It was deleted, or its address is wrong" icon="search">
          {back !== undefined && (
            <LinkButton href={back.href}>
              Back to <bdi>{back.name}</bdi>
            </LinkButton>
          )}
        </Empty>
      ) : (
        <Problem error={error} onRetry={onRetry} what={`The ${what} could not be loaded`} />
      )}
    </>
  );
}
