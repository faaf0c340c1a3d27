import { ProblemError } from '../../../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../../../shared/client/unreachable-error.ts';
import { Button } from '../controls/button.tsx';
import { Icon } from '../icon.tsx';

export function Problem({
  error,
  onRetry,
  what,
}: {
  error: unknown;
  onRetry?: (() => unknown) | undefined;
  what?: string;
}) {
  const id = error instanceof ProblemError ? error.requestId : '';
  return (
    <div class="problem" role="alert">
      <Icon name="warn" size={18} />
      <div>
        <strong>{what ?? 'The action failed'}</strong>
        <p>{problemText(error)}</p>
        {id !== '' && <p class="soft small">Request {id}</p>}
      </div>
      {onRetry && (
        <Button onClick={onRetry} icon="again">
          Try again
        </Button>
      )}
    </div>
  );
}

/** Return an error's text in the service's words, with all its faults. */
export function problemText(error: unknown): string {
  if (isUnreached(error))
    return 'The service cannot be reached. Check that it runs and that this machine is online.';
  if (error instanceof ProblemError && error.faults.length > 0)
    return error.faults.map(({ name, message }) => `${name} ${message}`).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Return whether an error means that the network or the service is unreachable. */
const isUnreached = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof TypeError && lostOnTheWay.test(error.message));

/** Browsers' messages for a failed request. They differ and do not help users. */
const lostOnTheWay = /fetch|NetworkError|module script|Load failed/i;
