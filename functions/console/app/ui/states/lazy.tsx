import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { UnreachableError } from '../../../../../shared/client/unreachable-error.ts';
import { noteReach } from '../../api/poller.ts';
import { serviceUrl } from '../../api/session.ts';
import { Button } from '../controls/button.tsx';
import { Empty } from './empty.tsx';
import { Problem } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

const againMilliseconds = 3_000;

/** Return whether the service answers. */
const answers = (): Promise<boolean> =>
  fetch(`${serviceUrl}/health`, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

type State = 'loading' | 'away' | 'gone';

/**
 * Wrap a component whose script loads at its first use. While the service is unreachable, show that and retry. If
 * the service answers but the script is missing, a deployment has replaced it.
 */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Part, setPart] = useState<ComponentType<P> | undefined>(() => loaded);
    const [state, setState] = useState<State>('loading');
    const [tries, setTries] = useState(0);
    useEffect(() => {
      if (loaded !== undefined) return;
      let isGone = false;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const wasAway = state === 'away';
      const look = async (): Promise<void> => {
        try {
          loaded = await load();
          if (wasAway) noteReach();
          if (!isGone) setPart(() => loaded);
        } catch (error) {
          const isThere = await answers();
          if (isGone) return;
          // Browsers remember a failed import, so reload. This loses nothing of the page.
          if (isThere && wasAway) return location.reload();
          if (!isThere) {
            noteReach(new UnreachableError(serviceUrl, error));
            timer = setTimeout(() => setTries((count) => count + 1), againMilliseconds);
          }
          setState(isThere ? 'gone' : 'away');
        }
      };
      void look();
      return () => {
        isGone = true;
        clearTimeout(timer);
      };
    }, [tries]);
    if (Part !== undefined) return <Part {...props} />;
    if (state === 'loading') return <Skeleton rows={6} />;
    if (state === 'away')
      return (
        <Problem
          error={new UnreachableError(serviceUrl, undefined)}
          what="This part of the console is not loaded yet"
          onRetry={() => setTries(tries + 1)}
        />
      );
    return (
      <Empty title="The console has been updated" icon="again">
        <p>This page is an older version. Reload it to continue.</p>
        <Button kind="primary" onClick={() => location.reload()}>
          Reload
        </Button>
      </Empty>
    );
  };
}
