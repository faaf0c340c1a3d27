import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Problem, Skeleton } from './parts.tsx';

/** A component whose script is loaded with its first use. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Later(props: P) {
    const [state, setState] = useState<{
      Part?: ComponentType<P> | undefined;
      error?: unknown;
      tries: number;
    }>({
      Part: loaded,
      tries: 0,
    });
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (Part) => {
          loaded = Part;
          setState({ Part, tries: state.tries });
        },
        (error: unknown) => setState({ error, tries: state.tries }),
      );
    }, [state.tries]);
    const { Part, error } = state;
    if (Part !== undefined) return <Part {...props} />;
    // After a deployment the files of the old page are gone.
    if (error !== undefined)
      return (
        <Problem
          error={error}
          what="This part of the console could not be loaded"
          onRetry={() => location.reload()}
        />
      );
    return <Skeleton rows={6} />;
  };
}
